// SPDX-License-Identifier: Apache-2.0
#include "numpy.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>

#include "base/format.h"
#include "errors.h"
#include "strings.h"

namespace nb = nanobind;

namespace sx::python {
namespace {

struct OwnType {
  DType type;
  int number;
};
constexpr OwnType kOwnTypes[] = {
    {DType::f32, NPY_FLOAT},     {DType::f64, NPY_DOUBLE},    {DType::f16, NPY_HALF},
    {DType::i64, NPY_INT64},     {DType::i32, NPY_INT32},     {DType::i16, NPY_INT16},
    {DType::i8, NPY_INT8},       {DType::u64, NPY_UINT64},    {DType::u32, NPY_UINT32},
    {DType::u16, NPY_UINT16},    {DType::u8, NPY_UINT8},      {DType::boolean, NPY_BOOL},
    {DType::c64, NPY_CFLOAT},    {DType::c128, NPY_CDOUBLE},  {DType::i64, NPY_LONGLONG},
    {DType::u64, NPY_ULONGLONG}, {DType::string, NPY_OBJECT}, {DType::string, NPY_UNICODE},
    {DType::string, NPY_STRING},
};

struct ForeignType {
  DType type;
  const char* name;
};
constexpr ForeignType kForeignTypes[] = {
    {DType::bf16, "bfloat16"},
    {DType::f8e4m3fn, "float8_e4m3fn"},
    {DType::f8e4m3fnuz, "float8_e4m3fnuz"},
    {DType::f8e5m2, "float8_e5m2"},
    {DType::f8e5m2fnuz, "float8_e5m2fnuz"},
    {DType::f8e8m0, "float8_e8m0fnu"},
    {DType::f6e2m3, "float6_e2m3fn"},
    {DType::f6e3m2, "float6_e3m2fn"},
    {DType::f4e2m1, "float4_e2m1fn"},
    {DType::u4, "uint4"},
    {DType::i4, "int4"},
    {DType::u2, "uint2"},
    {DType::i2, "int2"},
};

// Descriptors of the types that numpy does not have itself, by DType. Read once, when first needed, under the
// GIL.
PyArray_Descr* foreign[kDTypeCount] = {};
bool foreign_known = false;

void know_foreign_types() {
  if (foreign_known) return;
  nb::object module = nb::module_::import_("ml_dtypes");
  for (const ForeignType& f : kForeignTypes) {
    nb::object type = nb::getattr(module, f.name, nb::none());
    if (type.is_none()) continue;
    if (!PyArray_DescrConverter(type.ptr(), &foreign[int(f.type)])) throw nb::python_error();
  }
  foreign_known = true;
}

PyArray_Descr* descr_of(DType type) {  // a new reference
  for (const OwnType& own : kOwnTypes) {
    if (own.type == type) return PyArray_DescrFromType(own.number);
  }
  know_foreign_types();
  PyArray_Descr* d = foreign[int(type)];
  if (!d)
    raise(error(Code::unsupported, "numpy has no type for {}; a newer ml_dtypes may have one",
                dtype_name(type)));
  Py_INCREF(d);
  return d;
}

PyArrayObject* as_ndarray(PyObject* o) { return reinterpret_cast<PyArrayObject*>(o); }

DType dtype_of_number(int number) {
  for (const OwnType& own : kOwnTypes) {
    if (own.number == number) return own.type;
  }
  if (number < NPY_USERDEF) return DType::undefined;
  know_foreign_types();
  for (const ForeignType& f : kForeignTypes) {
    if (foreign[int(f.type)] && foreign[int(f.type)]->type_num == number) return f.type;
  }
  return DType::undefined;
}

Dims dims_of(PyArrayObject* a) {
  static_assert(sizeof(npy_intp) == sizeof(int64_t));
  return Dims({reinterpret_cast<const int64_t*>(PyArray_DIMS(a)), size_t(PyArray_NDIM(a))});
}

bool is_packed(DType type) { return dtype_bits(type) < 8 && type != DType::f6e2m3 && type != DType::f6e3m2; }

// One element in a byte, as ml_dtypes keeps them, to and from several in a byte, the first in the lowest
// bits.
void pack(const uint8_t* from, int64_t count, int bits, uint8_t* to, size_t bytes) {
  std::memset(to, 0, bytes);
  const unsigned mask = (1u << bits) - 1, in_byte = 8u / unsigned(bits);
  for (size_t i = 0; i < size_t(count); ++i) {
    to[i / in_byte] |= uint8_t((from[i] & mask) << (i % in_byte * unsigned(bits)));
  }
}

void unpack(const uint8_t* from, int64_t count, int bits, bool sign, uint8_t* to) {
  const unsigned mask = (1u << bits) - 1, in_byte = 8u / unsigned(bits), top = 1u << (bits - 1);
  for (size_t i = 0; i < size_t(count); ++i) {
    const unsigned v = unsigned(from[i / in_byte]) >> (i % in_byte * unsigned(bits)) & mask;
    to[i] = uint8_t(sign && (v & top) ? v | ~mask : v);
  }
}

// Keeps an array alive from places that know nothing of Python.
std::shared_ptr<const void> keep_alive(PyObject* array) {
  Py_INCREF(array);
  return {array, [](const void* p) {
            if (!Py_IsInitialized()) return;
            const PyGILState_STATE state = PyGILState_Ensure();
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(p)));
            PyGILState_Release(state);
          }};
}

void release_buffer(PyObject* capsule) {
  delete static_cast<std::shared_ptr<Buffer>*>(PyCapsule_GetPointer(capsule, nullptr));
}

// Below this a fresh array and a copy cost less than a capsule.
constexpr size_t kCopyBelow = 2048;

}  // namespace

void init_numpy() {
  if (_import_array() < 0) throw nb::python_error();
}

bool is_array(PyObject* object) { return PyArray_Check(object); }

DType array_dtype(PyObject* array) { return dtype_of_number(PyArray_TYPE(as_ndarray(array))); }

std::string array_text(PyObject* array) {
  nb::object d = nb::borrow(reinterpret_cast<PyObject*>(PyArray_DESCR(as_ndarray(array))));
  return nb::str(d).c_str() + to_string(dims_of(as_ndarray(array)));
}

nb::object as_array(PyObject* object, DType type) {
  const bool has_type = nb::hasattr(object, "dtype") || nb::hasattr(object, "__array__");
  PyArray_Descr* descr = has_type || type == DType::undefined ? nullptr : descr_of(type);
  PyObject* array = PyArray_FromAny(object, descr, 0, 0, 0, nullptr);
  if (!array) throw nb::python_error();
  return nb::steal(array);
}

Tensor tensor_over(PyObject* object, DType type, bool owned, nb::object& holder) {
  PyArrayObject* a = as_ndarray(object);
  holder = nb::borrow(object);
  if (!PyArray_ISCARRAY_RO(a)) {
    PyArray_Descr* native = PyArray_DescrNewByteorder(PyArray_DESCR(a), NPY_NATIVE);
    if (!native) throw nb::python_error();
    PyObject* plain = PyArray_FromArray(a, native, NPY_ARRAY_CARRAY_RO);
    if (!plain) throw nb::python_error();
    holder = nb::steal(plain);
    a = as_ndarray(plain);
  }
  if (is_packed(type)) {
    Tensor t = take(Tensor::allocate(type, dims_of(a)));
    pack(static_cast<const uint8_t*>(PyArray_DATA(a)), t.count(), dtype_bits(type),
         static_cast<uint8_t*>(t.mutable_data()), t.bytes());
    return t;
  }
  std::shared_ptr<const void> owner;
  if (owned) owner = keep_alive(holder.ptr());
  auto buffer = Buffer::wrap(PyArray_DATA(a), size_t(PyArray_NBYTES(a)), std::move(owner));
  return take(Tensor::over(std::move(buffer), 0, type, dims_of(a)));
}

Tensor tensor_of_strings(PyObject* object) {
  nb::object objects = nb::borrow(object);
  PyArrayObject* a = as_ndarray(object);
  if (PyArray_TYPE(a) != NPY_OBJECT || !PyArray_ISCARRAY_RO(a)) {
    PyObject* plain =
        PyArray_FromArray(a, PyArray_DescrFromType(NPY_OBJECT), NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    if (!plain) throw nb::python_error();
    objects = nb::steal(plain);
    a = as_ndarray(plain);
  }
  Tensor t = take(Tensor::allocate(DType::string, dims_of(a)));
  auto** items = static_cast<PyObject**>(PyArray_DATA(a));
  for (std::string& s : t.mutable_strings()) s = text_of(*items++);
  return t;
}

static nb::object array_of_strings(const Tensor& t) {
  nb::object array = nb::steal(
      PyArray_SimpleNew(int(t.rank()), reinterpret_cast<const npy_intp*>(t.dims().data()), NPY_OBJECT));
  if (!array.is_valid()) throw nb::python_error();
  auto** items = static_cast<PyObject**>(PyArray_DATA(as_ndarray(array.ptr())));
  for (const std::string& s : t.strings()) {
    Py_XSETREF(*items, str_of(s).release().ptr());
    ++items;
  }
  return array;
}

nb::object array_of(Tensor&& t, bool may_share) {
  if (t.type() == DType::string) return array_of_strings(t);
  PyArray_Descr* descr = descr_of(t.type());
  auto* dims = reinterpret_cast<const npy_intp*>(t.dims().data());
  const bool share = may_share && t.bytes() >= kCopyBelow && !is_packed(t.type()) && t.mutable_data() &&
                     t.buffer().use_count() == 1;
  PyObject* array =
      PyArray_NewFromDescr(&PyArray_Type, descr, int(t.rank()), dims, nullptr,
                           share ? t.mutable_data() : nullptr, share ? NPY_ARRAY_CARRAY : 0, nullptr);
  if (!array) throw nb::python_error();
  nb::object result = nb::steal(array);
  if (share) {
    auto buffer = std::make_unique<std::shared_ptr<Buffer>>(t.buffer());
    PyObject* base = PyCapsule_New(buffer.get(), nullptr, release_buffer);
    if (!base) throw nb::python_error();
    buffer.release();
    if (PyArray_SetBaseObject(as_ndarray(array), base) < 0) throw nb::python_error();
    return result;
  }
  auto* to = static_cast<uint8_t*>(PyArray_DATA(as_ndarray(array)));
  if (is_packed(t.type())) {
    const bool sign = t.type() == DType::i4 || t.type() == DType::i2;
    unpack(static_cast<const uint8_t*>(t.data()), t.count(), dtype_bits(t.type()), sign, to);
  } else if (t.bytes() > 0) {
    std::memcpy(to, t.data(), t.bytes());
  }
  return result;
}

}  // namespace sx::python
