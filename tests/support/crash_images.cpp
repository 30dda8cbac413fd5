// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - A CrashPoint gives each image once for its number of marks, and at most
//   images_max_per_point of them.
// - Every stage returns false iff the enumeration of this point shall end.

#include "support/crash_images.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kSuperblocksEndBytes = std::uint64_t{80} << 10;

bool is_superblock_write(const Effect& effect) {
  if (effect.kind != Effect::Kind::kData || effect.pieces.size() != 1) return false;
  return effect.pieces[0].end_bytes() <= kSuperblocksEndBytes &&
         sector_count(effect) == kPageBytes / kSectorBytes;
}

constexpr std::array kLengthsAndFills = {
    std::pair{LengthChoice::kAsApplied, Fill::kZero}, std::pair{LengthChoice::kDisk, Fill::kZero},
    std::pair{LengthChoice::kCache, Fill::kZero},     std::pair{LengthChoice::kCache, Fill::kOnes},
    std::pair{LengthChoice::kCache, Fill::kStale},
};

using Sectors = std::vector<SectorState>;

/// Every subset of the sectors that differ; garbage in each sector, the others old or new.
std::vector<Sectors> superblock_tears(const CrashImageBuilder& builder, const Effect& effect) {
  const Piece& piece = effect.pieces[0];
  const SectorRange range = sectors_of(piece);
  const auto count = static_cast<std::size_t>(range.end - range.first);
  std::vector<std::size_t> differing;
  for (std::size_t index = 0; index < count; ++index) {
    if (builder.sector_differs(piece, range.first + index)) differing.push_back(index);
  }
  std::vector<Sectors> tears;
  const std::uint32_t subset_count = std::uint32_t{1} << differing.size();
  for (std::uint32_t subset = 1; subset + 1 < subset_count; ++subset) {
    Sectors sectors(count, SectorState::kOld);
    for (std::size_t bit = 0; bit < differing.size(); ++bit) {
      if ((subset >> bit & 1) != 0) sectors[differing[bit]] = SectorState::kNew;
    }
    tears.push_back(std::move(sectors));
  }
  for (const SectorState garbage : {SectorState::kOnes, SectorState::kNoise}) {
    for (const SectorState others : {SectorState::kNew, SectorState::kOld}) {
      for (std::size_t index = 0; index < count; ++index) {
        Sectors sectors(count, others);
        sectors[index] = garbage;
        tears.push_back(std::move(sectors));
      }
    }
    tears.emplace_back(count, garbage);
  }
  return tears;
}

Sectors random_tear(std::size_t count, Random& random) {
  Sectors sectors(count);
  const std::uint64_t garbage_percent = random.below(3) * 10;
  for (SectorState& state : sectors) {
    state = random.below(2) == 0 ? SectorState::kOld : SectorState::kNew;
    if (random.below(100) < garbage_percent) {
      state = random.below(2) == 0 ? SectorState::kOnes : SectorState::kNoise;
    }
  }
  return sectors;
}

/// The two ends of a write, single sectors, all garbage; then random ones up to `count_max`.
std::vector<Sectors> data_tears(std::size_t count, std::size_t count_max, Random& random) {
  std::vector<Sectors> tears;
  for (const std::size_t cut : {std::size_t{1}, count / 2, count - 1}) {
    Sectors head(count, SectorState::kOld);
    std::fill_n(head.begin(), cut, SectorState::kNew);
    Sectors tail(head.rbegin(), head.rend());
    tears.push_back(std::move(head));
    tears.push_back(std::move(tail));
  }
  for (const SectorState state : {SectorState::kOnes, SectorState::kNoise}) {
    tears.emplace_back(count, state);
    for (const std::size_t index : {std::size_t{0}, count / 2, count - 1}) {
      Sectors sectors(count, SectorState::kNew);
      sectors[index] = state;
      tears.push_back(std::move(sectors));
    }
  }
  tears.resize(std::min(tears.size(), count_max));
  while (tears.size() < count_max) tears.push_back(random_tear(count, random));
  return tears;
}

}  // namespace

/// The images of one crash point.
class CrashPoint {
 public:
  CrashPoint(CrashImages& images, const DiskModel& model, std::size_t point,
             const CrashImages::Check& check)
      : images_(images),
        budget_(images.budget_),
        builder_(model, images.budget_.seed),
        check_(check),
        random_(images.budget_.seed ^ (point * 0x9E3779B97F4A7C15)),
        effect_count_(builder_.effects().size()) {
    image_.point = point;
    image_.log = &images.log_;
    image_.effects = &builder_.effects();
    for (std::size_t index = 0; index < point; ++index) {
      const Operation& operation = images.log_.operations[index];
      if (operation.kind != OperationKind::kMark) continue;
      ++image_.mark_count;
      image_.last_mark = operation.mark;
    }
  }

  /// Returns false when the check ended the enumeration.
  bool enumerate() {
    (void)(try_prefixes() && try_subsets() && try_tears() && try_superblocks() && try_mixtures());
    return !stopped_;
  }

 private:
  Variant uniform(Presence presence) const {
    Variant variant;
    variant.effects.assign(effect_count_, presence);
    return variant;
  }

  bool give(const Variant& variant) {
    const std::uint64_t hash = builder_.build(variant);
    ++images_.built_count_;
    const std::uint64_t case_hash = hash ^ (image_.mark_count + 1) * 0xD6E8FEB86659FD93;
    if (!images_.cases_.insert(case_hash).second) return true;
    images_.images_.insert(hash);
    image_.bytes = builder_.image();
    image_.hash = hash;
    image_.variant = &variant;
    image_.ordinal = images_.cases_.size() - 1;
    stopped_ = !check_(image_);
    ++given_count_;
    return !stopped_ && given_count_ < budget_.images_max_per_point;
  }

  /// The variant with every length and fill that can make a difference.
  bool give_with_lengths(Variant variant) {
    for (const auto& [length, fill] : kLengthsAndFills) {
      variant.length = length;
      variant.fill = fill;
      if (!give(variant)) return false;
      if (!builder_.changes_length()) break;
    }
    return true;
  }

  /// The variant as it is, and with one other length and fill.
  bool give_with_a_length(Variant variant) {
    if (!give(variant)) return false;
    if (!builder_.changes_length()) return true;
    std::tie(variant.length, variant.fill) =
        kLengthsAndFills[1 + random_.below(kLengthsAndFills.size() - 1)];
    return give(variant);
  }

  bool try_prefixes() {
    Variant variant = uniform(Presence::kAbsent);
    if (!give_with_lengths(variant)) return false;
    for (Presence& presence : variant.effects) {
      presence = Presence::kPresent;
      if (!give_with_lengths(variant)) return false;
    }
    return true;
  }

  bool try_subsets() {
    if (effect_count_ > budget_.subset_effects_max) return try_some_subsets();
    for (std::uint64_t subset = 0; subset < std::uint64_t{1} << effect_count_; ++subset) {
      Variant variant = uniform(Presence::kAbsent);
      for (std::size_t bit = 0; bit < effect_count_; ++bit) {
        if ((subset >> bit & 1) != 0) variant.effects[bit] = Presence::kPresent;
      }
      if (!give_with_a_length(std::move(variant))) return false;
    }
    return true;
  }

  bool try_some_subsets() {
    for (std::size_t index = 0; index < effect_count_; ++index) {
      Variant only = uniform(Presence::kAbsent);
      only.effects[index] = Presence::kPresent;
      if (!give_with_lengths(std::move(only))) return false;
      Variant missing = uniform(Presence::kPresent);
      missing.effects[index] = Presence::kAbsent;
      if (!give_with_lengths(std::move(missing))) return false;
    }
    return try_pairs() && try_random_subsets();
  }

  bool try_pairs() {
    const std::size_t pair_count = effect_count_ * (effect_count_ - 1) / 2;
    std::size_t pairs_left = pair_count;
    std::size_t wanted = std::min(pair_count, budget_.pairs_max);
    for (std::size_t first = 0; first < effect_count_; ++first) {
      for (std::size_t second = first + 1; second < effect_count_; ++second) {
        // Selection sampling: each pair with the same probability, in order.
        const bool chosen = random_.below(pairs_left--) < wanted;
        if (!chosen) continue;
        --wanted;
        Variant variant = uniform(Presence::kAbsent);
        variant.effects[first] = variant.effects[second] = Presence::kPresent;
        if (!give_with_a_length(std::move(variant))) return false;
      }
    }
    return true;
  }

  bool try_random_subsets() {
    for (std::size_t count = 0; count < budget_.random_count; ++count) {
      Variant variant = uniform(Presence::kAbsent);
      const std::uint64_t present_percent = 10 + random_.below(81);
      for (Presence& presence : variant.effects) {
        if (random_.below(100) < present_percent) presence = Presence::kPresent;
      }
      if (!give_with_a_length(std::move(variant))) return false;
    }
    return true;
  }

  bool try_tears() {
    for (std::size_t index = 0; index < effect_count_; ++index) {
      const Effect& effect = builder_.effects()[index];
      if (effect.kind != Effect::Kind::kData) continue;
      const bool small = is_superblock_write(effect);
      const std::vector<Sectors> tears =
          small ? superblock_tears(builder_, effect)
                : data_tears(sector_count(effect), budget_.tears_per_write, random_);
      for (const Sectors& sectors : tears) {
        if (!try_tear({index, sectors}, small)) return false;
      }
    }
    return true;
  }

  /// One torn effect with all others, with those before it, and (a superblock's) alone.
  bool try_tear(const Tear& tear, bool alone_too) {
    for (const int context : {0, 1, 2}) {
      if (context == 2 && !alone_too) break;
      Variant variant = uniform(context == 2 ? Presence::kAbsent : Presence::kPresent);
      if (context == 1) {
        std::fill(variant.effects.begin() + static_cast<std::ptrdiff_t>(tear.effect_index),
                  variant.effects.end(), Presence::kAbsent);
      }
      variant.effects[tear.effect_index] = Presence::kTorn;
      variant.tears = {tear};
      if (!give(variant)) return false;
    }
    return true;
  }

  /// The last superblock writes, at most four, in all combinations of five fates, with all other
  /// effects and with none.
  bool try_superblocks() {
    std::vector<std::size_t> copies;
    for (std::size_t index = effect_count_; index-- > 0 && copies.size() < 4;) {
      if (is_superblock_write(builder_.effects()[index])) copies.insert(copies.begin(), index);
    }
    std::size_t combination_count = 1;
    for (std::size_t count = 0; count < copies.size(); ++count) combination_count *= 5;
    for (std::size_t combination = 0; combination < combination_count; ++combination) {
      for (const Presence others : {Presence::kPresent, Presence::kAbsent}) {
        Variant variant = uniform(others);
        std::size_t fates = combination;
        for (const std::size_t index : copies) {
          set_fate(variant, index, fates % 5);
          fates /= 5;
        }
        if (!give(variant)) return false;
      }
    }
    return true;
  }

  static void set_fate(Variant& variant, std::size_t index, std::size_t fate) {
    constexpr std::size_t kCount = kPageBytes / kSectorBytes;
    if (fate < 2) {
      variant.effects[index] = fate == 0 ? Presence::kAbsent : Presence::kPresent;
      return;
    }
    Sectors sectors(kCount, SectorState::kOld);
    if (fate == 2) sectors[0] = SectorState::kNew;
    if (fate == 3) sectors[0] = SectorState::kOnes;
    if (fate == 4) std::fill(sectors.begin(), sectors.end(), SectorState::kNoise);
    variant.effects[index] = Presence::kTorn;
    variant.tears.push_back({index, std::move(sectors)});
  }

  bool try_mixtures() {
    for (std::size_t count = 0; count < budget_.random_count; ++count) {
      Variant variant = uniform(Presence::kAbsent);
      for (std::size_t index = 0; index < effect_count_; ++index) {
        const Effect& effect = builder_.effects()[index];
        const std::uint64_t fate = random_.below(4);
        if (fate == 0) continue;
        variant.effects[index] = Presence::kPresent;
        if (fate == 3 && effect.kind == Effect::Kind::kData) {
          variant.effects[index] = Presence::kTorn;
          variant.tears.push_back({index, random_tear(sector_count(effect), random_)});
        }
      }
      std::tie(variant.length, variant.fill) =
          kLengthsAndFills[random_.below(kLengthsAndFills.size())];
      if (!give(variant)) return false;
    }
    return true;
  }

  CrashImages& images_;
  const CrashBudget& budget_;
  CrashImageBuilder builder_;
  const CrashImages::Check& check_;
  Random random_;
  const std::size_t effect_count_;
  CrashImage image_;
  std::uint64_t given_count_ = 0;
  bool stopped_ = false;
};

CrashImages::CrashImages(OperationLog log, CrashBudget budget)
    : log_(std::move(log)), budget_(budget) {}

std::vector<std::size_t> CrashImages::points() const {
  std::vector<std::size_t> points;
  for (std::size_t index = 0; index < log_.operations.size(); ++index) {
    const Operation& operation = log_.operations[index];
    const bool ends_a_window = operation.kind == OperationKind::kMark ||
                               operation.kind == OperationKind::kEvict ||
                               (operation.kind == OperationKind::kSync && !operation.failed);
    if (ends_a_window) points.push_back(index);
  }
  points.push_back(log_.operations.size());
  return points;
}

bool CrashImages::enumerate(const Check& check) {
  DiskModel model(log_.initial);
  std::size_t applied = 0;
  for (const std::size_t point : points()) {
    for (; applied < point; ++applied) model.apply(log_.operations[applied], applied);
    if (!enumerate_model(model, point, check)) return false;
  }
  return true;
}

bool CrashImages::enumerate_at(std::size_t point, const Check& check) {
  CRAWLSTORE_ASSERT(point <= log_.operations.size());
  DiskModel model(log_.initial);
  for (std::size_t index = 0; index < point; ++index) model.apply(log_.operations[index], index);
  return enumerate_model(model, point, check);
}

bool CrashImages::enumerate_model(const DiskModel& model, std::size_t point, const Check& check) {
  CrashPoint crash_point(*this, model, point, check);
  return crash_point.enumerate();
}

}  // namespace crawlstore::testing
