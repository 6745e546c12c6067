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

// `openssl ca` takes dates in every version; `openssl x509` only since 3.4, and it refuses a negative -days since then.
std::string Certificates::settings_of_ca(const std::string& authority_name) const {
  const std::string index = path(authority_name + ".index");
  if (!std::filesystem::exists(index)) std::ofstream(index).close();
  const std::string settings = path(authority_name + ".cnf");
  std::ofstream(settings) << "[ca]\ndefault_ca = own\n[own]\ndatabase = " << index << "\nnew_certs_dir = " << folder_
                          << "\nrand_serial = yes\ndefault_md = sha256\nunique_subject = no\npolicy = any\n"
                          << "[any]\ncommonName = supplied\n";
  return settings;
}

Certificates::Identity Certificates::issue(const std::string& common_name, const std::string& names, Validity validity,
                                           const std::string& authority_name) {
  const std::string authority_file = authority(authority_name);
  const Identity made{path(common_name + ".pem"), path(common_name + ".key"), path(common_name + ".both.pem")};
  const std::string request = path(common_name + ".csr");
  const std::string extensions = path(common_name + ".ext");
  std::ofstream(extensions) << "subjectAltName=" << names << "\n";
  openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out " + made.key);
  openssl("req -new -key " + made.key + " -subj /CN=" + common_name + " -out " + request);
  const std::string dates =
      validity == Validity::kNow ? "-days 2" : "-startdate 20200101000000Z -enddate 20200102000000Z";
  openssl("ca -batch -notext -config " + settings_of_ca(authority_name) + " -cert " + authority_file + " -keyfile " +
          path(authority_name + ".key") + " -in " + request + " " + dates + " -extfile " + extensions + " -out " +
          made.certificate);
  std::ofstream both(made.both);
  both << std::ifstream(made.key).rdbuf() << std::ifstream(made.certificate).rdbuf();
  return made;
}

}  // namespace reseq::test
