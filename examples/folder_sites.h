// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Folders of HTML files that stand for web sites, so that examples can crawl without a network.

#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <crawlstore/crawled_page.h>
#include <crawlstore/url.h>

#include "html_links.h"

class FolderSites {
 public:
  /// Adds a site. Returns the URLs to begin with: of the HTML files of the folder, and of the index
  /// pages one below. Empty: it has none, or the URL is not one of HTTP.
  std::vector<std::string> add(const std::string& root_url, const std::filesystem::path& folder) {
    crawlstore::UrlNormalizer normalizer;
    const auto url = normalizer.normalize(root_url);
    const std::string root = std::string(url.text) + (url.text.ends_with('/') ? "" : "/");
    std::vector<std::string> urls;
    if (!url.parsed || !root.starts_with("http")) return urls;
    folders_[root] = folder;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::string page = root + entry.path().filename().string();
      if (entry.is_directory()) page += "/index.html";
      if (std::filesystem::exists(file_of(page))) urls.push_back(std::move(page));
    }
    return urls;
  }

  /// The HTML file behind a URL, or an empty path when it leads outside all sites.
  [[nodiscard]] std::filesystem::path file_of(const std::string& url) const {
    for (const auto& [root_url, folder] : folders_) {
      if (!url.starts_with(root_url)) continue;
      const auto path = without_escapes(url.substr(0, url.find('?')).substr(root_url.size()));
      if (path.starts_with('/') || path.find("..") != std::string::npos) return {};
      std::error_code too_long;
      std::filesystem::path file = folder / path;
      if (std::filesystem::is_directory(file, too_long)) file /= "index.html";
      const auto extension = file.extension();
      if (extension == ".html" || extension == ".htm" || extension == ".xhtml") return file;
    }
    return {};
  }

  /// The page behind a URL, with its links; nothing where there is no such file.
  [[nodiscard]] std::optional<crawlstore::CrawledPage> fetch(const std::string& url) const {
    std::ifstream file(file_of(url), std::ios::binary);
    if (!file) return std::nullopt;
    const std::string html(std::istreambuf_iterator<char>(file), {});
    crawlstore::CrawledPage page(url);
    page.set_content_hash(std::hash<std::string>()(html));
    for_each_link(url, html, [&page](const std::string& link) { page.add_link(link); });
    return page;
  }

 private:
  /// The path of a URL as names of files have it: %20 is a space.
  static std::string without_escapes(std::string path) {
    for (std::size_t i = 0; i + 2 < path.size(); ++i) {
      unsigned char byte = 0;
      const char* const end = &path[i] + 3;
      const bool is_escape = path[i] == '%' && std::from_chars(end - 2, end, byte, 16).ptr == end;
      if (is_escape) path.replace(i, 3, 1, static_cast<char>(byte));
    }
    return path;
  }

  std::map<std::string, std::filesystem::path> folders_;  // by their root URLs, which end with '/'
};
