#include "tests/security/certificates.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace reseq::test {

Certificates::Certificates(std::string folder) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
}

void Certificates::openssl(const std::string& arguments) const {
  const std::string log = path("openssl.log");
  if (std::system(("openssl " + arguments + " >>" + log + " 2>&1").c_str()) == 0) return;
  std::ifstream file(log);
  throw std::runtime_error("openssl " + arguments + ": " +
                           std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
}

std::string Certificates::authority(const std::string& name) {
  const std::string certificate = path(name + ".pem");
  if (std::filesystem::exists(certificate)) return certificate;
  openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out " + path(name + ".key"));
  openssl("req -x509 -days 2 -key " + path(name + ".key") + " -subj /CN=" + name + " -out " + certificate);
  return certificate;
}

Certificates::Identity Certificates::issue(const std::string& common_name, const std::string& names, int days,
                                           const std::string& authority_name) {
  const std::string authority_file = authority(authority_name);
  const Identity made{path(common_name + ".pem"), path(common_name + ".key"), path(common_name + ".both.pem")};
  const std::string request = path(common_name + ".csr");
  const std::string extensions = path(common_name + ".ext");
  std::ofstream(extensions) << "subjectAltName=" << names << "\n";
  openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out " + made.key);
  openssl("req -new -key " + made.key + " -subj /CN=" + common_name + " -out " + request);
  openssl("x509 -req -in " + request + " -CA " + authority_file + " -CAkey " + path(authority_name + ".key") +
          " -CAcreateserial -days " + std::to_string(days) + " -extfile " + extensions + " -out " + made.certificate);
  std::ofstream both(made.both);
  both << std::ifstream(made.key).rdbuf() << std::ifstream(made.certificate).rdbuf();
  return made;
}

}  // namespace reseq::test
