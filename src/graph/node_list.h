// SPDX-License-Identifier: Apache-2.0
// NodeList: the nodes of a body in execution order, as a list through a vector: putting a node before another
// and taking one out cost the same anywhere. A walk that stands on a node which is taken out goes on behind
// it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace sx {

using NodeId = uint32_t;

class NodeList {
 public:
  using Place = uint32_t;

  class iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = NodeId;
    using difference_type = std::ptrdiff_t;
    using pointer = const NodeId*;
    using reference = NodeId;

    iterator() = default;
    iterator(const NodeList* list, Place at) : list_(list), at_(at) {}
    NodeId operator*() const { return list_->entries_[at_].node; }
    iterator& operator++() {
      at_ = list_->entries_[at_].next;
      return *this;
    }
    iterator& operator--() {
      at_ = list_->entries_[at_].previous;
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    iterator operator--(int) {
      const iterator before = *this;
      --*this;
      return before;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    const NodeList* list_ = nullptr;
    Place at_ = 0;
  };

  NodeList() : entries_(1) {}
  iterator begin() const { return {this, entries_[kEnd].next}; }
  iterator end() const { return {this, kEnd}; }
  std::reverse_iterator<iterator> rbegin() const { return std::reverse_iterator(end()); }
  std::reverse_iterator<iterator> rend() const { return std::reverse_iterator(begin()); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  NodeId front() const { return *begin(); }
  NodeId back() const { return *rbegin(); }
  operator std::vector<NodeId>() const { return {begin(), end()}; }

 private:
  friend class Graph;
  static constexpr Place kEnd = 0;  // the entry before the first and behind the last

  // Graph keeps each node's place with the node.
  Place insert(NodeId node, Place before = kEnd) {
    const Place previous = entries_[before].previous, place = Place(entries_.size());
    entries_.push_back({node, previous, before});
    entries_[previous].next = place;
    entries_[before].previous = place;
    ++size_;
    return place;
  }
  void erase(Place place) {
    const Entry gone = entries_[place];
    entries_[gone.previous].next = gone.next;
    entries_[gone.next].previous = gone.previous;
    --size_;
  }

  struct Entry {
    NodeId node = ~NodeId(0);
    Place previous = kEnd, next = kEnd;
  };
  std::vector<Entry> entries_;
  size_t size_ = 0;
};

}  // namespace sx
