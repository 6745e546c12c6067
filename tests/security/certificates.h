// Certificates: an authority and what it signs, made by openssl in a folder.
// Thread rule: one thread.
#pragma once

#include <string>

namespace reseq::test {

class Certificates {
 public:
  // Throws when openssl cannot do it, as all functions do.
  explicit Certificates(std::string folder);

  // The authority of that name, made when it is first asked for: its certificate (PEM).
  std::string authority(const std::string& name = "authority");

  struct Identity {
    std::string certificate;  // PEM
    std::string key;          // PEM
    std::string both;         // one file, as Kafka's keystores want it
  };
  enum class Validity { kNow, kExpired };
  // `names`: of its subjectAltName, for instance IP:127.0.0.1.
  Identity issue(const std::string& common_name, const std::string& names, Validity validity = Validity::kNow,
                 const std::string& authority_name = "authority");

 private:
  void openssl(const std::string& arguments) const;
  [[nodiscard]] std::string settings_of_ca(const std::string& authority_name) const;
  [[nodiscard]] std::string path(const std::string& file) const { return folder_ + "/" + file; }

  std::string folder_;
};

}  // namespace reseq::test
