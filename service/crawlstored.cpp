// SPDX-License-Identifier: Apache-2.0
//
// crawlstored: a URLFrontier service on a crawl file. See --help.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <malloc.h>

#include "service/server/log.h"
#include "service/server/metrics.h"
#include "service/server/service.h"

namespace crawlstore::service {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr std::chrono::seconds kStopTime{5};
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

struct Options {
  std::string file;
  std::string listen = "127.0.0.1:7071";
  std::uint64_t commit_ms = 100;
  bool answers_before_commit = false;
  std::optional<bool> is_by_priority;
  bool has_pages = false;
  std::uint64_t memory_mib = 32;
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_client_ca;
  std::string metrics;
  std::vector<std::string> nodes;
  std::string node;  // the own one of these
};

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// nullptr: a file of a key cannot be read
std::shared_ptr<grpc::ServerCredentials> credentials_of(const Options& options) {
  if (options.tls_key.empty()) return grpc::InsecureServerCredentials();
  const auto key = read_text(options.tls_key);
  const auto certificate = read_text(options.tls_certificate);
  if (!key || !certificate) {
    log(LogLevel::kError, "no-certificate",
        {{"key", options.tls_key}, {"certificate", options.tls_certificate}});
    return nullptr;
  }
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({*key, *certificate});
  if (!options.tls_client_ca.empty()) {
    const auto authority = read_text(options.tls_client_ca);
    if (!authority) {
      log(LogLevel::kError, "no-certificate", {{"authority", options.tls_client_ca}});
      return nullptr;
    }
    tls.pem_root_certs = *authority;
    tls.client_certificate_request = GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  }
  return grpc::SslServerCredentials(tls);
}

/// The credentials by which this node calls others: with TLS the certificate of the service, and
/// the authority of clients, or else those of the system. nullptr: a file cannot be read
std::shared_ptr<grpc::ChannelCredentials> node_credentials_of(const Options& options) {
  if (options.tls_key.empty()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions tls;
  const auto key = read_text(options.tls_key);
  const auto certificate = read_text(options.tls_certificate);
  const auto authority = options.tls_client_ca.empty() ? std::optional<std::string>("")
                                                       : read_text(options.tls_client_ca);
  if (!key || !certificate || !authority) return nullptr;
  tls.pem_private_key = *key;
  tls.pem_cert_chain = *certificate;
  tls.pem_root_certs = *authority;
  return grpc::SslCredentials(tls);
}

/// nullptr: there is but this one
std::unique_ptr<Nodes> nodes_of(const Options& options) {
  if (options.nodes.empty()) return nullptr;
  const std::string& own = options.node.empty() ? options.listen : options.node;
  const auto place = std::ranges::find(options.nodes, own) - options.nodes.begin();
  return std::make_unique<Nodes>(
      NodesOptions{options.nodes, static_cast<std::size_t>(place), node_credentials_of(options)});
}

/// The signals that end the service; blocked in all threads, for sigwait().
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

/// nullptr: nothing can listen there
std::unique_ptr<Metrics> begin_metrics(const std::string& address, const Store& store,
                                       CommitLoop& loop, const ServiceCounts& counts) {
  try {
    return std::make_unique<Metrics>(address, store, loop, counts);
  } catch (const std::exception& error) {
    log(LogLevel::kError, "cannot-listen", {{"address", address}, {"error", error.what()}});
    return nullptr;
  }
}

/// nullopt: they cannot be opened, as was said
std::optional<Crawls> open_crawls(Store& store, const Options& options, const Nodes* nodes) {
  CrawlsOptions how{options.memory_mib * kMebibyte, options.is_by_priority, options.has_pages,
                    Node{}};
  if (nodes != nullptr) {
    how.node = {static_cast<std::uint32_t>(nodes->own()),
                static_cast<std::uint32_t>(nodes->addresses().size())};
  }
  auto crawls = Crawls::open(store, how);
  if (crawls) return *std::move(crawls);
  const Error& error = crawls.error();
  const bool is_of_user = error.code == Errc::kInvalidArgument;
  log(LogLevel::kError, "cannot-open",
      {{"file", options.file}, {"error", is_of_user ? std::string(error.text) : describe(error)}});
  return std::nullopt;
}

int close(Crawls& crawls, Store& store) {
  auto closed = crawls.close();
  if (closed) closed = store.close();
  if (!closed) log(LogLevel::kError, "cannot-close", {{"error", describe(closed.error())}});
  log(LogLevel::kInfo, "stopped");
  return closed ? 0 : kFailed;
}

int serve(const Options& options) {
  const sigset_t signals = block_signals();
  auto store = Store::open_or_create(options.file);
  if (!store) {
    log(LogLevel::kError, "cannot-open",
        {{"file", options.file}, {"error", describe(store.error())}});
    return kFailed;
  }
  const auto nodes = nodes_of(options);
  auto crawls = open_crawls(*store, options, nodes.get());
  if (!crawls) return kFailed;
  const auto credentials = credentials_of(options);
  if (credentials == nullptr) return kFailed;

  std::atomic<bool> is_whole = true;
  CommitLoop::Options rules;
  rules.interval = std::chrono::milliseconds(options.commit_ms);
  rules.answers_before_commit = options.answers_before_commit;
  CommitLoop loop(*store, *crawls, rules, [&is_whole](const Error& error) {
    log(LogLevel::kError, "store-lost", {{"error", describe(error)}});
    is_whole = false;
    kill(getpid(), SIGTERM);
  });
  FrontierService service(*store, loop, nodes.get());

  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  // SO_REUSEPORT would let two services listen at one address, and each have half of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Nodes look whether others are there.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  int port = 0;
  builder.AddListeningPort(options.listen, credentials, &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    log(LogLevel::kError, "cannot-listen", {{"address", options.listen}});
    return kFailed;
  }
  if (nodes) nodes->connect(server->InProcessChannel({}));
  std::unique_ptr<Metrics> metrics;
  if (!options.metrics.empty()) {
    metrics = begin_metrics(options.metrics, *store, loop, service.counts());
    if (metrics == nullptr) return kFailed;
  }
  service.set_address(options.listen.substr(0, options.listen.rfind(':') + 1) +
                      std::to_string(port));
  const std::string metrics_port = metrics ? std::to_string(metrics->port()) : "none";
  log(LogLevel::kInfo, "listening",
      {{"address", options.listen},
       {"port", std::to_string(port)},
       {"file", options.file},
       {"metrics", metrics_port}});
  int signal = 0;
  sigwait(&signals, &signal);
  log(LogLevel::kInfo, "stopping");
  server->Shutdown(std::chrono::system_clock::now() + kStopTime);
  metrics.reset();
  loop.stop();
  return is_whole ? close(*crawls, *store) : kFailed;
}

/// Empty: the own node is one of the list, in which each is once.
std::string check_nodes(const Options& options) {
  if (options.nodes.empty()) {
    return options.node.empty() ? "" : "--node is one of --nodes, which is not given";
  }
  const std::string& own = options.node.empty() ? options.listen : options.node;
  for (const std::string& node : options.nodes) {
    if (std::ranges::count(options.nodes, node) != 1) return node + " is twice in --nodes";
  }
  if (std::ranges::count(options.nodes, own) == 1) return {};
  return own + " is not in --nodes; --node ADDRESS says which of them this one is";
}

/// Empty: it is an address and a port, as HOST:PORT.
std::string check_address(const std::string& address) {
  const auto colon = address.rfind(':');
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  const bool is_number =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos;
  if (is_number && std::stoi(port) <= UINT16_MAX) return {};
  return "an address is HOST:PORT, with a port up to 65535; not " + address;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{
      "A URLFrontier service on a crawl file: what StormCrawler and other crawlers ask what "
      "to fetch. All that it knows is in FILE, which is made if it is not there. crawlstore "
      "and its inspector read FILE while the service runs."};
  app.name("crawlstored");
  app.add_option("FILE", options.file, "The crawl file")->required();
  app.add_option("--listen", options.listen, "Address and port")
      ->capture_default_str()
      ->check(check_address);
  app.add_option("--commit", options.commit_ms,
                 "Milliseconds between commits, with which acknowledgements come")
      ->capture_default_str()
      ->check(CLI::Range(0, 60'000));
  std::string durability = "commit";
  app.add_option(
         "--durability", durability,
         "commit: answers come when the file has what they tell. interval: at once; a crash "
         "may lose what was acknowledged since the last commit")
      ->capture_default_str()
      ->check(CLI::IsMember({"commit", "interval"}));
  app.add_option("--memory", options.memory_mib,
                 "MiB for what a crawl knows and has not merged into the file")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  std::string order;
  app.add_option(
         "--order", order,
         "The URLs of a queue that leave first. date: those that were to be fetched first. "
         "priority: those with the highest number in their metadata `priority`; without one it "
         "is 0. The file keeps the order (default: date)")
      ->check(CLI::IsMember({"date", "priority"}));
  app.add_flag("--pages", options.has_pages,
               "URLs that are new become pages of the file's page database, too, which crawlstore "
               "and its inspector show. The file keeps this");
  auto* const certificate =
      app.add_option("--tls-cert", options.tls_certificate,
                     "PEM file of the certificate: TLS instead of plain text");
  auto* const key = app.add_option("--tls-key", options.tls_key, "PEM file of its key");
  certificate->needs(key);
  key->needs(certificate);
  app.add_option("--tls-client-ca", options.tls_client_ca,
                 "PEM file of the authority whose signature clients' certificates must have")
      ->needs(key);
  app.add_option("--metrics", options.metrics,
                 "Address and port where Prometheus may ask by HTTP, such as 127.0.0.1:9100")
      ->check(check_address);
  app.add_option("--nodes", options.nodes,
                 "Addresses of all services that share crawls, with commas between, the same list "
                 "at each of them. A queue is of one of them; others send on what concerns it")
      ->delimiter(',')
      ->check(check_address);
  app.add_option("--node", options.node,
                 "The address of this service in --nodes, if it is not that of --listen")
      ->check(check_address);
  app.set_version_flag("--version", "crawlstored " CRAWLSTORE_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (const std::string wrong = check_nodes(options); !wrong.empty()) {
    std::fprintf(stderr, "crawlstored: %s\n", wrong.c_str());
    return kUsage;
  }
  options.answers_before_commit = durability == "interval";
  if (!order.empty()) options.is_by_priority = order == "priority";
  return serve(options);
}

}  // namespace
}  // namespace crawlstore::service

int main(int argc, char** argv) {
  // Threads of gRPC allocate, others free: each arena would keep the most that it ever had.
  mallopt(M_ARENA_MAX, 2);
  try {
    return crawlstore::service::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crawlstored: %s\n", error.what());
    return 1;
  }
}
