// Where matrix instructions keep their elements, by the public matrix-instruction tables.
#pragma once

#include <string>
#include <utility>

namespace baton::tests {

/// Rows, columns, ascending k, and blocks that are multiplied apart.
struct MatrixShape {
  int m, n, k, blocks;

  /// How many elements of A, or B, a lane holds.
  int per_lane_a() const { return k * m * blocks / 64; }
  int per_lane_b() const { return k * n * blocks / 64; }
};

/// The fields that let blocks share one block of A, and lanes others' B.
struct BlockFields {
  int cbsz = 0, abid = 0, blgp = 0;

  std::string text() const {
    return " cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(abid) +
           " blgp:" + std::to_string(blgp);
  }
};

/// A lane, and which of its elements.
struct ElementPlace {
  int lane, element;
};

/// Groups of 2^cbsz blocks use their block number abid.
inline ElementPlace place_of_a(const MatrixShape& s, const BlockFields& f, int block, int i,
                               int k) {
  const int group = 1 << f.cbsz;
  const int used = f.cbsz == 0 ? block : block / group * group + f.abid;
  return {k / s.per_lane_a() * s.m * s.blocks + used * s.m + i, k % s.per_lane_a()};
}

/// blgp: the low or the high half for both, a rotation by 16 lanes, or 16 lanes for all.
inline ElementPlace place_of_b(const MatrixShape& s, const BlockFields& f, int block, int j,
                               int k) {
  int lane = k / s.per_lane_b() * s.n * s.blocks + block * s.n + j;
  if (f.blgp == 1) lane = lane % 32;
  if (f.blgp == 2) lane = lane % 32 + 32;
  if (f.blgp == 3) lane = (lane + 16) % 64;
  if (f.blgp >= 4) lane = lane % 16 + 16 * (f.blgp - 4);
  return {lane, k % s.per_lane_b()};
}

/// The register and lane of a 32-bit result.
inline std::pair<int, int> place_of_result(const MatrixShape& s, int block, int i, int j) {
  if (s.m == 32) return {16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2) + j};
  if (s.m == 16) return {4 * block + i % 4, 16 * (i / 4) + j};
  return {i, 4 * block + j};
}

}  // namespace baton::tests
