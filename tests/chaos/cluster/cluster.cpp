#include "tests/chaos/cluster/cluster.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>

#include "tests/chaos/cluster/deposed_coordinators.h"
#include "tests/support/free_port.h"
#include "tests/support/pause.h"
#include "tests/support/source_path.h"

namespace reseq::chaos {

namespace {

using Clock = std::chrono::steady_clock;

const std::string kScript = test::source_path("script/kafka");
constexpr const char* kHeap = "RESEQ_KAFKA_HEAP=-Xmx384m";
constexpr const char* kWait = "RESEQ_KAFKA_WAIT_S=600";  // a node waits for the other controllers as long as it takes
constexpr std::chrono::minutes kFirstStart{5};           // the first one on a machine fetches Kafka
constexpr std::chrono::milliseconds kQuestion{2'000};
constexpr std::chrono::milliseconds kTendQuestion{500};  // the run stands still for so long
constexpr std::chrono::milliseconds kStep{20};
constexpr std::chrono::milliseconds kLookEvery{100};

template <typename Condition>
bool wait_until(std::chrono::milliseconds limit, Condition condition) {
  const auto until = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(kStep);
  }
  return true;
}

// 16 bytes in base64, as Kafka writes them.
std::string random_id(std::random_device& random) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string id;
  for (int i = 0; i < 21; ++i)
    id += kLetters[std::uniform_int_distribution<std::size_t>(0, kLetters.size() - 1)(random)];
  return id + "A";  // its last four bits have to be zero
}

std::string address(const char* listener, std::uint16_t port) {
  return std::string(listener) + "://127.0.0.1:" + std::to_string(port);
}

std::map<std::string, std::string> three_replicas() {
  return {{"default.replication.factor", "3"},           {"min.insync.replicas", "2"},
          {"offsets.topic.replication.factor", "3"},     {"transaction.state.log.replication.factor", "3"},
          {"transaction.state.log.min.isr", "2"},        {"share.coordinator.state.topic.replication.factor", "3"},
          {"share.coordinator.state.topic.min.isr", "2"}};
}

// Ends the brokers when process `$0` is gone without having done it. `$1` is script/kafka, the rest their folders.
constexpr const char* kWatch = R"(tail --pid="$0" -f /dev/null; script=$1; shift
for dir; do "$script" stop --dir "$dir"; done)";

}  // namespace

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)) {
  if (options_.brokers != 1 && options_.brokers != 3) throw std::invalid_argument("a cluster has 1 or 3 brokers");
  std::filesystem::create_directories(options_.folder);
  options_.folder = std::filesystem::canonical(options_.folder).string();
  std::random_device random;
  cluster_id_ = random_id(random);
  std::vector<std::uint16_t> ports;
  for (int broker = 1; broker <= options_.brokers; ++broker) {
    const std::string folder = options_.folder + "/" + std::to_string(broker);
    nodes_.push_back({.port = test::free_port(),
                      .inner_port = test::free_port(),
                      .controller_port = test::free_port(),
                      .folder = folder,
                      .markers = MarkerRepair(broker, folder + "/broker.log", options_.brokers == 1)});
    ports.push_back(nodes_.back().port);
  }
  proxy_ = Proxy::open(ports, options_.seed);
  std::vector<std::string> watch = {"setsid", "bash", "-c", kWatch, std::to_string(::getpid()), kScript};
  for (const Node& node : nodes_) watch.push_back(node.folder);
  watch_ = std::make_unique<test::Process>(watch, options_.folder + "/watch.log");
  if (!heal(kFirstStart)) {
    std::string why;
    for (const Node& node : nodes_) why += "\n" + node.starter->tail();
    kill_all();
    throw std::runtime_error("the brokers do not get ready:" + why);
  }
}

Cluster::~Cluster() {
  kill_all();
}

std::string Cluster::bootstrap_servers() const {
  std::string servers;
  for (int broker = 1; broker <= brokers(); ++broker)
    servers += (broker == 1 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(proxy_->port(broker));
  return servers;
}

void Cluster::write_properties(int broker) const {
  const Node& node = at(broker);
  std::string voters;
  for (int other = 1; other <= brokers(); ++other)
    voters +=
        (other == 1 ? "" : ",") + std::to_string(other) + "@127.0.0.1:" + std::to_string(at(other).controller_port);
  std::map<std::string, std::string> properties = {
      {"node.id", std::to_string(broker)},
      {"broker.rack", rack(broker)},
      {"replica.selector.class", "org.apache.kafka.common.replica.RackAwareReplicaSelector"},
      {"controller.quorum.voters", voters},
      {"listeners", address("BROKER", node.port) + "," + address("REPLICATION", node.inner_port) + "," +
                        address("CONTROLLER", node.controller_port)},
      {"advertised.listeners", address("BROKER", proxy_->port(broker)) + "," + address("REPLICATION", node.inner_port)},
      {"listener.security.protocol.map", "BROKER:PLAINTEXT,REPLICATION:PLAINTEXT,CONTROLLER:PLAINTEXT"},
      {"inter.broker.listener.name", "REPLICATION"},
      {"group.min.session.timeout.ms", "1000"},
      // A dead broker is noticed after 6 s instead of 9.
      {"broker.session.timeout.ms", "6000"},
      {"broker.heartbeat.interval.ms", "1000"},
      {"initial.broker.registration.timeout.ms", "600000"},
      {"unclean.leader.election.enable", "false"}};
  if (brokers() == 3) properties.merge(three_replicas());
  for (const auto& [name, value] : options_.properties) properties[name] = value;
  std::ofstream file(node.folder + ".properties");
  for (const auto& [name, value] : properties) file << name << "=" << value << "\n";
}

// The pid that script/kafka wrote down, if it is still that of this broker.
int Cluster::pid(int broker) const {
  const std::string& folder = at(broker).folder;
  int pid = 0;
  std::ifstream(folder + "/broker.pid") >> pid;
  if (pid <= 0) return 0;
  std::ifstream command("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  const std::string words((std::istreambuf_iterator<char>(command)), std::istreambuf_iterator<char>());
  return words.find(folder + "/server.properties") != std::string::npos ? pid : 0;
}

std::vector<std::string> Cluster::torn() const {
  DeposedCoordinators coordinators;
  for (int broker = 1; broker <= brokers(); ++broker)
    for (const auto& entry : std::filesystem::directory_iterator(at(broker).folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("broker") || !name.ends_with(".log")) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      coordinators.read(broker, std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
    }
  return coordinators.proofs();
}

bool Cluster::alive(int broker) const {
  return pid(broker) != 0;
}

bool Cluster::stopped(int broker) const {
  return at(broker).stopped && alive(broker);
}

void Cluster::signal_kill(int broker) {
  Node& node = at(broker);
  if (node.starter) node.starter->signal(SIGKILL);  // it would wait for a broker that does not come
  if (const int process = pid(broker); process != 0) ::kill(process, SIGKILL);
  node.stopped = false;
}

void Cluster::await_death(int broker) {
  while (alive(broker)) std::this_thread::sleep_for(kStep);
  if (Node& node = at(broker); node.starter) (void)node.starter->wait(1'000);
}

void Cluster::kill(int broker) {
  signal_kill(broker);
  await_death(broker);
}

void Cluster::kill_all() {
  for (int broker = 1; broker <= brokers(); ++broker) signal_kill(broker);
  for (int broker = 1; broker <= brokers(); ++broker) await_death(broker);
}

void Cluster::stop(int broker) {
  at(broker).stopped = test::pause_process(pid(broker));
}

void Cluster::cont(int broker) {
  if (const int process = pid(broker); process != 0) ::kill(process, SIGCONT);
  at(broker).stopped = false;
}

void Cluster::start(int broker) {
  Node& node = at(broker);
  if (alive(broker) || (node.starter && node.starter->running())) return;
  write_properties(broker);
  if (node.gate == 0) node.gate = proxy_->add({.match = {.broker = broker}, .action = Refuse{}});
  // Of several, another one may have become the coordinator and gone on.
  if (brokers() > 1) node.markers.give_up(news_);
  node.markers.begin_life();
  std::error_code none;  // script/kafka begins a new one
  std::filesystem::rename(node.folder + "/broker.log", node.folder + "/broker." + std::to_string(node.lives) + ".log",
                          none);
  ++node.lives;
  node.starter = std::make_unique<test::Process>(
      std::vector<std::string>{"env", kHeap, kWait, kScript, "start", "--dir", node.folder, "--port",
                               std::to_string(node.port), "--cluster-id", cluster_id_, "--properties",
                               node.folder + ".properties"},
      options_.folder + "/start." + std::to_string(broker) + ".log");
}

Cluster::Views Cluster::ask_all() const {
  Views views;
  for (int broker = 1; broker <= brokers(); ++broker) {
    views.emplace_back();
    if (alive(broker) && !stopped(broker)) views.back() = ask_partitions(at(broker).port, kTendQuestion);
  }
  return views;
}

// A broker answers clients only after the controller has taken its former life for dead and let it in again: partitions
// that it knows to be led now stay so, as long as their leader lives, and it cannot skip markers any more.
void Cluster::open_if_mended(int broker, const Views& views) {
  const auto& view = views.at(static_cast<std::size_t>(broker - 1));
  if (!view) return;
  const auto answers = [&](int leader) {
    return leader >= 1 && leader <= brokers() && views.at(static_cast<std::size_t>(leader - 1));
  };
  if (!std::all_of(view->begin(), view->end(), [&](const PartitionFacts& one) { return answers(one.leader); })) return;
  const auto leader_port = [&](const NamedPartition& wanted) -> std::uint16_t {
    for (const PartitionFacts& one : *view)
      if (one.topic == wanted.topic && one.partition == wanted.partition) return at(one.leader).port;
    return 0;
  };
  Node& node = at(broker);
  if (!node.markers.heal(leader_port, news_)) return;
  proxy_->remove(std::exchange(node.gate, 0));
}

void Cluster::tend() {
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + kLookEvery;
  const bool all_open = std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.gate == 0; });
  const Views views = all_open ? Views() : ask_all();
  for (int broker = 1; broker <= brokers(); ++broker) {
    if (at(broker).gate == 0)
      at(broker).markers.give_up(news_);
    else
      open_if_mended(broker, views);
  }
}

bool Cluster::healthy() {
  for (int broker = 1; broker <= brokers(); ++broker) {
    if (!alive(broker) || stopped(broker) || at(broker).gate != 0) return false;
    const auto partitions = ask_partitions(at(broker).port, kQuestion);
    if (!partitions) return false;
    const bool whole = std::all_of(partitions->begin(), partitions->end(), [](const PartitionFacts& one) {
      return one.leader != 0 && one.in_sync.size() == one.replicas.size();
    });
    if (!whole) return false;
  }
  return true;
}

bool Cluster::heal(Limit limit) {
  for (int broker = 1; broker <= brokers(); ++broker) {
    if (at(broker).stopped) cont(broker);
  }
  return wait_until(limit, [this] {
    for (int broker = 1; broker <= brokers(); ++broker) start(broker);
    tend();
    return healthy();
  });
}

template <typename Ask>
int Cluster::ask_any(Ask ask) {
  for (int broker = 1; broker <= brokers(); ++broker) {
    if (!alive(broker) || stopped(broker)) continue;
    if (const auto answer = ask(at(broker).port)) return *answer;
  }
  return 0;
}

int Cluster::leader(const std::string& topic, std::int32_t partition) {
  return ask_any([&](std::uint16_t port) -> std::optional<int> {
    const auto partitions = ask_partitions(port, kQuestion);
    if (!partitions) return std::nullopt;
    for (const PartitionFacts& one : *partitions) {
      if (one.topic == topic && one.partition == partition && one.leader != 0) return one.leader;
    }
    return std::nullopt;
  });
}

int Cluster::group_coordinator(const std::string& group_id) {
  return ask_any([&](std::uint16_t port) { return ask_coordinator(port, Coordinates::kGroup, group_id, kQuestion); });
}

int Cluster::transaction_coordinator(const std::string& transactional_id) {
  return ask_any([&](std::uint16_t port) {
    return ask_coordinator(port, Coordinates::kTransactions, transactional_id, kQuestion);
  });
}

}  // namespace reseq::chaos
