# SPDX-License-Identifier: Apache-2.0
"""Random decisions: sizes, shapes, element types and values that are likely to hurt. The same seed gives the same."""

import random

import ml_dtypes
import numpy as np

# Around the widths of vectors and tiles, and primes for channels.
ODD = (7, 8, 9, 11, 13, 15, 16, 17, 19, 20, 23, 31, 32, 33, 47, 48, 49, 63, 64, 65)
FLOATS = {
    np.dtype(t)
    for t in (
        np.float16,
        np.float32,
        np.float64,
        ml_dtypes.bfloat16,
        *(
            getattr(ml_dtypes, name)
            for name in (
                "float8_e4m3fn",
                "float8_e4m3fnuz",
                "float8_e5m2",
                "float8_e5m2fnuz",
                "float8_e8m0fnu",
                "float4_e2m1fn",
                "float6_e2m3fn",
                "float6_e3m2fn",
            )
        ),
    )
}
SMALL_INTS = {np.dtype(getattr(ml_dtypes, name)) for name in ("int4", "uint4", "int2", "uint2")}
STRING, BOOL = np.dtype(object), np.dtype(bool)
WORDS = (
    "",
    "a",
    "b",
    "cat",
    "Cat",
    "dog",
    "a b",
    " x ",
    "1",
    "-2.5",
    "ÄÖ",
    "ß",
    "日本",
    "e\u0301",
    "nan",
    "inf",
)


class Draw:
    """One case's source of randomness."""

    def __init__(self, *key) -> None:
        self.random = random.Random("/".join(map(str, key)))
        self._numbers = None
        self.tame = False  # no NaN, infinities or extremes
        self.most = 1500  # elements of one tensor

    @property
    def numbers(self) -> np.random.Generator:
        if self._numbers is None:
            self._numbers = np.random.Generator(np.random.PCG64(self.random.getrandbits(64)))
        return self._numbers

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def one(self, *choices):
        return self.random.choice(choices)

    def of(self, choices):
        return self.random.choice(choices)

    def whole(self, low: int, high: int) -> int:
        """Both ends included."""
        return self.random.randint(low, high)

    def flag(self) -> int:
        return self.random.getrandbits(1)

    def real(self, low: float, high: float) -> float:
        return float(np.float32(self.random.uniform(low, high)))

    # Sizes

    def size(self, most: int = 65, least: int = 0) -> int:
        pick = self.random.random()
        if pick < 0.03:
            size = 0
        elif pick < 0.15:
            size = 1
        elif pick < 0.65:
            size = self.whole(2, 6)
        else:
            size = self.of(ODD)
        return max(least, min(size, max(most, least)))

    def shape(self, rank: int | None = None, least: int = 0, most: int | None = None) -> tuple[int, ...]:
        if rank is None:
            rank = self.random.choices(range(7), (4, 14, 24, 22, 20, 9, 7))[0]
        room, sizes = most or self.most, []
        for _ in range(rank):
            size = self.size(room, least)
            sizes.append(size)
            room //= max(size, 1)
        self.random.shuffle(sizes)
        return tuple(sizes)

    def broadcast(self, shape: tuple[int, ...], drop: bool = True) -> tuple[int, ...]:
        """A shape that broadcasts to this one."""
        pick = self.random.random()
        if pick < 0.35:
            return shape
        if drop and pick < 0.45:
            return ()
        start = self.whole(0, len(shape)) if drop and self.chance(0.4) else 0
        return tuple(1 if self.chance(0.3) else size for size in shape[start:])

    def axis(self, rank: int, negative: bool = True) -> int:
        axis = self.whole(0, max(rank - 1, 0))
        return axis - rank if negative and rank and self.chance(0.4) else axis

    def axes(self, rank: int, least: int = 0, negative: bool = True) -> list[int]:
        count = self.whole(min(least, rank), rank)
        chosen = self.random.sample(range(rank), count)
        return [a - rank if negative and self.chance(0.3) else a for a in chosen]

    # Values

    def values(self, shape, dtype, style: str = "") -> np.ndarray:
        """`style`: '' for anything, or 'unit' (0..1), 'positive', 'small' (about -2..2)."""
        dtype = np.dtype(dtype)
        if dtype == STRING:
            flat = [self.of(WORDS) for _ in range(int(np.prod(shape)))]
            return np.array(flat, object).reshape(shape)
        if dtype == BOOL:
            return self.numbers.random(shape) < 0.5
        if dtype in FLOATS:
            return self._reals(shape, dtype, style)
        if dtype.kind == "c":
            return (self.numbers.standard_normal(shape) + 1j * self.numbers.standard_normal(shape)).astype(
                dtype
            )
        return self._integers(shape, dtype, style)

    def _reals(self, shape, dtype, style: str) -> np.ndarray:
        if style == "unit":
            return np.asarray(self.numbers.random(shape)).astype(dtype)
        if style == "positive":
            return np.asarray(self.numbers.random(shape) * 3 + 0.01).astype(dtype)
        pick = self.random.random()
        x = np.asarray(self.numbers.standard_normal(shape))
        if pick < 0.2:
            x = np.round(x * 2) / 2
        elif pick < 0.3 and style != "small":
            x = x * 10.0 ** self.whole(-4, 4)
        with np.errstate(all="ignore"):
            x = x.astype(dtype)
        if not self.tame and style != "small" and x.size and self.chance(0.15):
            self._spoil(x)
        return x

    def _spoil(self, x: np.ndarray) -> None:
        info = ml_dtypes.finfo(x.dtype)
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, float(info.max), float(info.min)]
        special += [float(info.smallest_subnormal), float(info.tiny), 1e30, -1e30, 1e-30]
        flat = x.reshape(-1)
        with np.errstate(all="ignore"):
            for _ in range(self.whole(1, 4)):
                flat[self.whole(0, x.size - 1)] = np.asarray(self.of(special)).astype(x.dtype)

    def _integers(self, shape, dtype, style: str) -> np.ndarray:
        if dtype in SMALL_INTS:
            info = ml_dtypes.iinfo(dtype)
            return self.numbers.integers(int(info.min), int(info.max) + 1, shape).astype(dtype)
        info = np.iinfo(dtype)
        if dtype.itemsize == 1 and style != "small":
            return self.numbers.integers(info.min, int(info.max) + 1, shape).astype(dtype)
        x = np.asarray(self.numbers.integers(max(-9, info.min), 10, shape)).astype(dtype)
        if not self.tame and style != "small" and x.size and self.chance(0.12):
            flat = x.reshape(-1)
            for _ in range(self.whole(1, 3)):
                flat[self.whole(0, x.size - 1)] = self.one(
                    info.min, info.max, info.max // 2 + 1, info.min // 3
                )
        return x

    def indices(self, shape, size: int, dtype=np.int64, negative: bool = True) -> np.ndarray:
        """Valid indices of an axis."""
        if size == 0:
            return np.zeros([0 for _ in shape] if shape else (0,), dtype)
        low = -size if negative and self.chance(0.4) and np.dtype(dtype).kind == "i" else 0
        return np.asarray(self.numbers.integers(low, size, shape)).astype(dtype)
