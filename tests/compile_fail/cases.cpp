// What the DSL's types must refuse, checked by clang's -verify: every line with an expected error
// fails with that text, and no other line fails. The last function is the control.
#include "dsl/dsl.h"

namespace baton::dsl {

void host_branches(Bool b, I32 i, F32 f) {
  if (b) return;              // expected-error {{'Bool' is not contextually convertible to 'bool'}}
  while (b) return;           // expected-error {{'Bool' is not contextually convertible to 'bool'}}
  (void)(b ? 1 : 2);          // expected-error {{'Bool' is not contextually convertible to 'bool'}}
  (void)(b && true);          // expected-error 2 {{'Bool'}}
  (void)(i < 4 || f > 2.0f);  // expected-error 2 {{'Bool'}}
  (void)static_cast<bool>(b);  // expected-error {{cannot convert 'Bool' to 'bool'}}
  if (i) return;               // expected-error {{'I32' is not contextually convertible to 'bool'}}
  if (i == 3) return;  // expected-error {{'Bool' is not contextually convertible to 'bool'}}
  for (int k = 0; k < i; ++k) return;  // expected-error {{not contextually convertible to 'bool'}}
  bool host = b;              // expected-error {{no viable conversion from 'Bool' to 'bool'}}
  int number = i;             // expected-error {{no viable conversion from 'I32' to 'int'}}
  (void)static_cast<int>(i);  // expected-error {{cannot convert 'I32' to 'int'}}
  float real = f;             // expected-error {{no viable conversion from 'F32' to 'float'}}
  switch (i) {}               // expected-error {{statement requires expression of integer type}}
}

void mixed_types(Bool b, I32 i, U32 u, I64 l, F32 f, BF16 h) {
  (void)(i + u);    // expected-error {{invalid operands to binary expression ('I32' and 'U32')}}
  (void)(u - i);    // expected-error {{invalid operands to binary expression ('U32' and 'I32')}}
  (void)(i * l);    // expected-error {{invalid operands to binary expression ('I32' and 'I64')}}
  (void)(i + f);    // expected-error {{invalid operands to binary expression ('I32' and 'F32')}}
  (void)(f / i);    // expected-error {{invalid operands to binary expression ('F32' and 'I32')}}
  (void)(i < u);    // expected-error {{invalid operands to binary expression ('I32' and 'U32')}}
  (void)(f == i);   // expected-error {{invalid operands to binary expression ('F32' and 'I32')}}
  (void)(h + h);    // expected-error {{invalid operands to binary expression ('BF16' and 'BF16')}}
  (void)(f * h);    // expected-error {{invalid operands to binary expression ('F32' and 'BF16')}}
  (void)(b + b);    // expected-error {{invalid operands to binary expression ('Bool' and 'Bool')}}
  (void)(b & i);    // expected-error {{invalid operands to binary expression ('Bool' and 'I32')}}
  (void)(f % f);    // expected-error {{invalid operands to binary expression ('F32' and 'F32')}}
  (void)(f & f);    // expected-error {{invalid operands to binary expression ('F32' and 'F32')}}
  (void)(f << 1);   // expected-error {{invalid operands to binary expression ('F32' and 'int')}}
  (void)~f;         // expected-error {{invalid argument type 'F32' to unary expression}}
  (void)-b;         // expected-error {{invalid argument type 'Bool' to unary expression}}
  (void)!i;         // expected-error {{invalid argument type 'I32' to unary expression}}
  (void)min(i, u);  // expected-error {{no matching function for call to 'min'}}
  (void)select(b, i, f);  // expected-error {{no matching function for call to 'select'}}
  (void)select(i, i, i);  // expected-error {{no matching function for call to 'select'}}
  (void)fma(f, f, i);     // expected-error {{no matching function for call to 'fma'}}
  (void)bitcast<I64>(f);  // expected-error {{no matching function for call to 'bitcast'}}
  (void)bitcast<F32>(h);  // expected-error {{no matching function for call to 'bitcast'}}
  (void)to_f32(l);        // expected-error {{no matching function for call to 'to_f32'}}
  (void)popcount(f);      // expected-error {{no matching function for call to 'popcount'}}
}

void host_constants(Bool b, I32 i, U32 u, F32 f, BF16 h) {
  (void)(f + 1.0);  // expected-error {{invalid operands to binary expression ('F32' and 'double')}}
  (void)(2.0 * f);  // expected-error {{invalid operands to binary expression ('double' and 'F32')}}
  (void)(f + 1);    // expected-error {{invalid operands to binary expression ('F32' and 'int')}}
  (void)(1 - f);    // expected-error {{invalid operands to binary expression ('int' and 'F32')}}
  (void)(f < 1.0);  // expected-error {{invalid operands to binary expression ('F32' and 'double')}}
  (void)(i * 2.5f);  // expected-error {{invalid operands to binary expression ('I32' and 'float')}}
  (void)(2.5f * i);  // expected-error {{invalid operands to binary expression ('float' and 'I32')}}
  (void)(0.5 + u);  // expected-error {{invalid operands to binary expression ('double' and 'U32')}}
  (void)(i + true);   // expected-error {{invalid operands to binary expression ('I32' and 'bool')}}
  (void)(true + i);   // expected-error {{invalid operands to binary expression ('bool' and 'I32')}}
  (void)(b & 1);      // expected-error {{invalid operands to binary expression ('Bool' and 'int')}}
  (void)(b == true);  // expected-error {{invalid operands to binary expression}}
  (void)(h * 2.0f);   // expected-error {{invalid operands to binary expression}}
}

void implicit_conversions(Bool b, I32 i, U32 u, F32 f) {
  F32 a = i;     // expected-error {{no viable conversion from 'I32' to 'F32'}}
  F32 c = 1.0f;  // expected-error {{no viable conversion from 'float' to 'F32'}}
  F32 d(1.0);    // expected-error {{no matching constructor for initialization of 'F32'}}
  I32 e = 5;     // expected-error {{no viable conversion from 'int' to 'I32'}}
  I32 g(2.5f);   // expected-error {{no matching constructor for initialization of 'I32'}}
  U32 k = i;     // expected-error {{no viable conversion from 'I32' to 'U32'}}
  I64 l(i);      // expected-error {{no matching constructor for initialization of 'I64'}}
  BF16 m = f;    // expected-error {{no viable conversion from 'F32' to 'BF16'}}
  I32 n = b;     // expected-error {{no viable conversion from 'Bool' to 'I32'}}
  i = f;         // expected-error {{no viable overloaded '='}}
  i = u;         // expected-error {{no viable overloaded '='}}
  i += 1;        // expected-error {{no viable overloaded '+='}}
  ++i;           // expected-error {{cannot increment value of type 'I32'}}
}

void vectors(Vec<F32, 4> v, Vec<F32, 4> u, Vec<F32, 2> w, Vec<I32, 4> n, Vec<BF16, 2> h, F32 f,
             I32 i) {
  (void)(h + h);                      // expected-error {{invalid operands to binary expression}}
  (void)(v + w);                      // expected-error {{invalid operands to binary expression}}
  (void)(v + n);                      // expected-error {{invalid operands to binary expression}}
  (void)(v * f);                      // expected-error {{invalid operands to binary expression}}
  (void)(v < u);                      // expected-error {{invalid operands to binary expression}}
  (void)v[i];                         // expected-error {{no viable overloaded operator[]}}
  v[0] = f;                           // expected-error {{no viable overloaded '='}}
  v = w;                              // expected-error {{no viable overloaded '='}}
  Vec<F32, 4> short_list({f, f, f});  // expected-error {{no matching constructor}}
  Vec<F32, 2> long_list({f, f, f});   // expected-error {{no matching constructor}}
  mfma_16x16x32(v, v, v);             // expected-error {{no matching function}}
}

void single(Vec<F32, 1>*, Buffer<F32> words, I32 i) {
  (void)words.load<1>(i);  // expected-error@* {{one element is no Vec}}
}

void memory(Buffer<BF16> halves, Buffer<I64> wide, Buffer<F32> words, LdsArray<F32> lds, I32 i,
            U32 u, F32 f) {
  (void)wide.load(i);  // expected-error {{no matching member function for call to 'load'}}
  halves.store(i, f);  // expected-error {{no matching member function for call to 'store'}}
  (void)halves.load(i);
  (void)words.load(u);  // expected-error {{no matching member function for call to 'load'}}
  words.store(i, i);    // expected-error {{no matching member function for call to 'store'}}
  lds.store(i, i);      // expected-error {{no matching member function for call to 'store'}}
  (void)lds.load(f);    // expected-error {{no matching member function for call to 'load'}}
}

void handoffs(Region<F32> r, Region<BF16> pairs, Region<I32> flags, I32 i, F32 f, U32 u) {
  put(r, i, i);                 // expected-error {{no matching function for call to 'put'}}
  put(r, i, {f, i});            // expected-error {{no matching function for call to 'put'}}
  put_bf(r, i, {f, f});         // expected-error {{no matching function for call to 'put_bf'}}
  put_bf(pairs, i, {f, f, f});  // expected-error@* {{put 2 or 4 values}}
  put_words(r, i, {u, u, u});   // expected-error@* {{one store holds 1 or 2 words}}
  put_words(r, i, {i});         // expected-error {{no matching function for call to 'put_words'}}
  publish(r, i);                // expected-error {{no matching function for call to 'publish'}}
  (void)poll(
      std::vector<PollSpec<F32>>{flags.at(i)});  // expected-error {{no matching constructor}}
}

void plain_rows(Rows<BF16> rows, Vec<BF16, 8> values, I32 i) {
  rows.store(i, values, Scope::wave);             // expected-error {{no matching member function}}
  (void)rows.load<8>(i, {.scope = Scope::wave});  // expected-error {{no matching member function}}
  Buffer<BF16> memory = rows;                     // expected-error {{no viable conversion}}
  Rows<BF16> unmarked = Buffer<BF16>();           // expected-error {{no viable conversion}}
}

void sentinels(SentinelRegion sent, Region<BF16> pairs, Region<I32> flags, I32 i, F32 f, U32 u,
               Vec<BF16, 2> pair) {
  put(sent, i, f);          // expected-error {{no matching function for call to 'put'}}
  put(sent, i, {u, u});     // expected-error {{no matching function for call to 'put'}}
  put_bf(sent, i, {f, f});  // expected-error {{no matching function for call to 'put_bf'}}
  put_words(sent, i, {u});  // expected-error {{no matching function for call to 'put_words'}}
  publish(sent, i);         // expected-error {{no matching function for call to 'publish'}}
  (void)poll<BF16>({sent.at(i)});  // expected-error {{no member named 'at' in}}
  (void)poll(sent, {i});           // expected-error {{no matching function for call to 'poll'}}
  put_sent(pairs, i, pair);        // expected-error {{no matching function for call to 'put_sent'}}
  put_sent(sent, i, f);            // expected-error {{no matching function for call to 'put_sent'}}
  put_sent(sent, i, i);            // expected-error {{no matching function for call to 'put_sent'}}
  put_sent(sent, u, u);            // expected-error {{no matching function for call to 'put_sent'}}
  (void)poll_sent(pairs, {i});  // expected-error {{no matching function for call to 'poll_sent'}}
  (void)poll_sent_words(flags, {i});  // expected-error {{no matching function for call to}}
  rearm(pairs, i);                    // expected-error {{no matching function for call to 'rearm'}}
}

void control(I32 i, F32 f, Bool b, Var<I32>& v) {
  If(i, [] {});              // expected-error {{no matching function for call to 'If'}}
  For(0, f, 1, [](I32) {});  // expected-error {{no matching function for call to 'For'}}
  v = f;                     // expected-error {{no viable overloaded '='}}
  Var<I32> copy = v;         // expected-error {{call to deleted constructor}}
  Var<I32> unset;            // expected-error {{no matching constructor}}
  Var<F32> other(i);         // expected-error {{no matching constructor}}
}

void accepted(Bool b, I32 i, U32 u, I64 l, F32 f, BF16 h, Vec<F32, 4> v, const Var<I32>& x,
              Region<F32> r, Region<BF16> pairs, Buffer<F32> words, SentinelRegion sent,
              Vec<BF16, 2> pair) {
  (void)(i + 1 - 2 * i / 3 % 4);
  (void)(i + 7u);
  (void)(u & 0xFFFFFFFFu);
  (void)(3u << u);
  (void)(l + 1 + int64_t{1});
  (void)(1.0f / f * 2.0f - f);
  (void)(b & (i < 4) & !(f >= 0.0f) & true);
  (void)(0 < i);
  (void)(x + 1);
  (void)(1 + x);
  (void)(x < 2);
  (void)(v * v + v);
  (void)(to_f32(h) + v[3]);
  (void)min(i, 3);
  (void)max(3, i);
  (void)select(i == 0, f, 0.0f);
  put(r, i, {f, f});
  put(r, 0, f);
  put_bf(pairs, i, {f, 0.0f, f, f});
  put_words(pairs, i, {u, 0u});
  put_sent(sent.to(3), i, pair);
  put_sent(sent, 7, u);
  (void)poll_sent(sent, {i, i}, Rearm::at_once);
  (void)poll_sent_words(sent, {i});
  rearm(sent, 7);
  words.store(i, f, Scope::device);
  F32 made(2.0f);
  I32 number(7);
  i = i + 1;
  If(i < 3, [&] { f = made; }).Else([&] { (void)number; });
}

}  // namespace baton::dsl
