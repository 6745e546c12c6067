// TaggedRecord: a record for the topic `requests`, ready to be produced.
// Thread rule: plain value; key and payload point into the Change it was made of.
#pragma once

#include <boost/container/small_vector.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace reseq::tagging {

struct RecordHeader {
  std::string_view name;  // static text
  std::string value;
};

struct TaggedRecord {
  std::string_view key;                     // the document id
  std::optional<std::string_view> payload;  // absent = null
  boost::container::small_vector<RecordHeader, 4> headers;
};

}  // namespace reseq::tagging
