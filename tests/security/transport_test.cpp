// TLS on real listeners: what works, and what is said when it does not.
#include <sysexits.h>

#include "tests/security/guarded_application.h"

namespace reseq::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Transport : public GuardedApplication {
 protected:
  // The configuration is refused before anybody is asked.
  void expect_not_even_tried(const std::string& fix) {
    for (const char* subcommand : {"check", "run"}) {
      const Ran ran = shop.run({subcommand});
      EXPECT_EQ(ran.code, EX_CONFIG) << ran.text;
      EXPECT_THAT(ran.last_line, AllOf(StartsWith("resequencer: "), EndsWith(fix)));
    }
  }
};

TEST_F(Transport, CarriesADocumentOverTls) {
  come_in_by("tls");
  const Ran made = shop.run({"init"});
  EXPECT_EQ(made.code, EX_OK) << made.text;
  const Ran checked = shop.run({"check"});
  EXPECT_EQ(checked.code, EX_OK) << checked.text;
  expect_a_document_passes();
}

TEST_F(Transport, NamesTheAuthorityThatIsNotTrusted) {
  come_in_by("tls", "");
  shop.tables = "[[target]]\nname = \"search\"\n[kafka]\n\"security.protocol\" = \"ssl\"\n\"ssl.ca.location\" = \"" +
                broker.certificates().authority("stranger") + "\"\n";
  expect_refused("set ssl.ca.location in [kafka]");
}

TEST_F(Transport, NamesTheCertificateOfAnotherHost) {
  come_in_by("tls");
  const std::string port = shop.bootstrap_servers.substr(shop.bootstrap_servers.find(':'));
  shop.bootstrap_servers = "localhost" + port;
  expect_refused("connect by a name that its subjectAltName has");
  // Nothing but the name is wrong with it.
  shop.tables += "\"ssl.endpoint.identification.algorithm\" = \"none\"\n";
  expect_not_even_tried("or set insecure_transport = true if that is meant");
  shop.keys = "insecure_transport = true\n";
  EXPECT_THAT(shop.run({"check"}).text, HasSubstr("ok       brokers"));
}

TEST_F(Transport, NamesTheCertificateThatHasExpired) {
  come_in_by("expired");
  expect_refused("the broker's certificate has expired");
  shop.tables += "\"enable.ssl.certificate.verification\" = false\n";
  expect_not_even_tried("or set insecure_transport = true if that is meant");
  shop.keys = "insecure_transport = true\n";
  EXPECT_THAT(shop.run({"check"}).text, HasSubstr("ok       brokers"));
}

TEST_F(Transport, NamesTheClientCertificateThatIsMissing) {
  come_in_by("mtls");
  expect_refused("set ssl.certificate.location and ssl.key.location in [kafka]");
}

TEST_F(Transport, NamesTheClientCertificateOfAnotherAuthority) {
  const auto stranger =
      broker.certificates().issue("somebody", "DNS:somebody", Certificates::Validity::kNow, "stranger");
  come_in_by("mtls", "\"ssl.certificate.location\" = \"" + stranger.certificate + "\"\n\"ssl.key.location\" = \"" +
                         stranger.key + "\"\n");
  expect_refused("the broker wants a client certificate that it trusts");
}

TEST_F(Transport, LetsInWhoHasAClientCertificate) {
  const auto client = broker.certificates().issue("client", "DNS:client");
  come_in_by("mtls", "\"ssl.certificate.location\" = \"" + client.certificate + "\"\n\"ssl.key.location\" = \"" +
                         client.key + "\"\n");
  const Ran made = shop.run({"init"});
  EXPECT_EQ(made.code, EX_OK) << made.text;
  const Ran checked = shop.run({"check"});
  EXPECT_EQ(checked.code, EX_OK) << checked.text;
  expect_a_document_passes();
}

TEST_F(Transport, NamesTheFileThatIsNotThere) {
  come_in_by("tls");
  shop.tables = "[[target]]\nname = \"search\"\n[kafka]\n\"security.protocol\" = \"ssl\"\n\"ssl.ca.location\" = \"" +
                shop.path("nothing.pem") + "\"\n";
  expect_refused("ssl.ca.location failed");
}

}  // namespace
}  // namespace reseq::test
