// SPDX-License-Identifier: Apache-2.0
#include "inspector/shell/picture.h"

#include <string_view>

#include <png.h>

#include "inspector/core/atomic_file.h"

namespace crawlstore::inspector {

std::string write_png(const Picture& picture, const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  // Opaque: three bytes a pixel make a smaller file.
  image.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(3 * picture.pixels.size());
  for (const std::uint32_t pixel : picture.pixels) {
    for (const unsigned shift : {0U, 8U, 16U}) {
      bytes.push_back(static_cast<std::uint8_t>(pixel >> shift));
    }
  }
  std::string png(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = png.size();
  if (png_image_write_to_memory(&image, png.data(), &size, 0, bytes.data(), 0, nullptr) == 0) {
    return "cannot write " + path + ": " + image.message;
  }
  AtomicFile file(path);
  file.write(std::string_view(png).substr(0, size));
  return file.finish();
}

Picture read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) return {};
  image.format = PNG_FORMAT_RGBA;
  Picture picture(static_cast<int>(image.width), static_cast<int>(image.height), 0);
  if (png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr) == 0) return {};
  return picture;
}

}  // namespace crawlstore::inspector
