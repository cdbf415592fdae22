import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, compileExpression } from '../src/index.ts'

// Cases that the official suite does not cover, or where JSON makes a difference. An Error stands for an error.

const x = {
  user: { tier: 'gold', name: null },
  list: [3, 1, 2],
  tags: ['a', 'b'],
  prices: { apple: 2, pear: 3.5 },
  ip: '10.1.2.3',
  e: 'a😀b',
  zero: -0,
}
const error = (words: string): Error => new Error(words)

const groups: Readonly<Record<string, readonly [source: string, expected: unknown][]>> = {
  optionals: [
    ['x.?user.?tier.orValue("none")', 'gold'],
    ['x.?user.?age.orValue(0)', 0],
    ['x.?customer.?tier.orValue("none")', 'none'],
    ['x.?customer.tier.orValue("none")', 'none'],
    ['x.user.?name.hasValue()', true],
    ['x.?user.?name.?first.orValue("-")', error('null has no fields')],
    ['x.?list[?5].orValue(-1)', -1],
    ['x.list[?0].value()', 3],
    ['x.list[?0.5]', error('not an index')],
    ['x[?"user"].?tier.value()', 'gold'],
    ['x.?customer.value()', error('no value')],
    ['x.?user.optMap(u, u.tier + "!").orValue("")', 'gold!'],
    ['x.?customer.optMap(u, u.tier).orValue("")', ''],
    ['[?x.?user, ?x.?customer].size()', 1],
    ['{"a": 1, ?"b": x.?customer}', { a: 1 }],
    ['{?"b": 1}', error("'?' needs an optional")],
    ['optional.of(1).orValue(1 / 0)', 1],
    ['optional.none().orValue(1 / 0)', error('division by zero')],
    ['optional.none().or(1)', error('or() needs an optional')],
    ['5.orValue(1)', error('orValue() needs an optional')],
    ['optional.unwrap([optional.of(1), optional.none(), optional.of(2)])', [1, 2]],
    ['[optional.of(1), optional.none()].unwrapOpt()', [1]],
    ['optional.of(1)', 1],
    ['optional.none()', null],
    ['has(x.?user)', true],
    ['has(x.?user.tier) && !has(x.?customer.tier)', true],
    ['type(x.?user) == optional_type', true],
  ],
  'two variables': [
    ['x.list.all(i, v, v > 0 && i < 3)', true],
    ['x.list.exists(i, v, i == 1 && v == 1)', true],
    ['x.prices.exists(name, price, name == "pear" && price > 3)', true],
    ['x.prices.existsOne(name, price, price > 2)', true],
    ['x.list.transformList(i, v, i * v)', [0, 1, 4]],
    ['x.list.transformList(i, v, i > 0, i * v)', [1, 4]],
    ['x.prices.transformMap(name, price, price * 2)', { apple: 4, pear: 7 }],
    ['x.prices.transformMap(name, price, price > 3, price)', { pear: 3.5 }],
    ['x.tags.transformMapEntry(i, tag, {tag: i})', { a: 0, b: 1 }],
    ['x.tags.transformMapEntry(i, tag, {"same": i})', error('stands twice')],
    ['x.tags.transformMapEntry(i, tag, i)', error('needs a map')],
    ['x.list.all(i, v, x.tags.all(j, w, i + j >= 0))', true],
  ],
  bindings: [
    ['cel.bind(total, x.list[0] + x.list[1], total * total)', 16],
    ['cel.bind(x, 1, x + 1)', 2],
    ['cel.bind(a, 1 / 0, true)', error('division by zero')],
    ['[1, 2].map(i, cel.bind(j, i * 2, j + i))', [3, 6]],
  ],
  strings: [
    ['x.e.charAt(1)', '😀'],
    ['x.e.charAt(3)', ''],
    ['x.e.lastIndexOf("b")', 2],
    ['x.e.reverse()', 'b😀a'],
    ['x.list.reverse()', [2, 1, 3]],
    ['" \\u0085a\\ufeff ".trim()', 'a\ufeff'],
    ['"".split("")', []],
    ['"%s has %d of %.1f %%".format(["a", 2, 3.25])', 'a has 2 of 3.2 %'],
    ['"%d".format([2.5])', error('cannot be applied to double')],
    ['"%s".format([])', error('no value for %s')],
    ['"%.101f".format([1.0])', error('at most 100 digits')],
    ['"%s".format([x.prices])', '{apple: 2, pear: 3.5}'],
    ['strings.quote("a\\"b")', '"a\\"b"'],
  ],
  numbers: [
    ['math.greatest(x.list)', 3],
    ['math.least(1, 2.5, -3)', -3],
    ['math.greatest([])', error('needs a number')],
    ['math.round(x.prices.pear)', 4],
    ['math.round(0.49999999999999994)', 0],
    ['[-0.5, -0.4, 0.5, 1.5, 2.5, 4503599627370495.5].map(n, math.round(n))', [-1, -0, 1, 2, 3, 4503599627370496]],
    ['[double("Infinity"), 1e300].all(n, math.round(n) == n) && math.isNaN(math.round(double("NaN")))', true],
    ['math.round(x.prices.apple)', 2],
    ['math.sqrt(16)', 4],
    ['math.abs(-x.prices.pear)', 3.5],
    ['string(0 * -1)', '0'],
    ['1.0 / (0 / -5) > 0', true],
    ['1.0 / (-4 % 2) > 0', true],
    ['1.0 / -0 > 0', true],
    ['1.0 / x.zero > 0 && 1.0 / double(x.zero) > 0', true],
    ['1.0 / -0.0 < 0', true],
  ],
  sets: [
    ['sets.contains(x.tags, ["a"])', true],
    ['sets.contains(x.tags, ["a", "c"])', false],
    ['sets.intersects(x.tags, ["c", "b"])', true],
    ['sets.intersects(x.tags, [])', false],
    ['sets.equivalent([1, 1, 2], [2.0, 1u])', true],
    ['sets.equivalent([1], [1, 2])', false],
    ['sets.contains(1, [1])', error('cannot be applied')],
  ],
  encodings: [
    ['base64.encode(b"hello")', 'aGVsbG8='],
    ['string(base64.decode("aGVsbG8"))', 'hello'],
    ['base64.decode("a")', error('not base64')],
    ['base64.decode("aGVs bG8=")', error('not base64')],
    ['base64.decode("aGVsbG8==")', error('not base64')],
  ],
  network: [
    ['cidr("10.0.0.0/8").containsIP(x.ip)', true],
    ['cidr("10.0.0.0/8").containsIP(ip("11.0.0.1"))', false],
    ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")', true],
    ['cidr("10.1.0.0/16").containsCIDR(cidr("10.0.0.0/8"))', false],
    ['cidr("192.168.7.9/24").masked()', '192.168.7.0/24'],
    ['string(cidr("192.168.7.9/24").ip())', '192.168.7.9'],
    ['cidr("::1/64").prefixLength()', 64],
    ['ip(x.ip).family()', 4],
    ['ip("2001:DB8::1")', '2001:db8::1'],
    ['ip("1:0:0:2:0:0:0:3")', '1:0:0:2::3'],
    ['ip("::")', '::'],
    ['ip("2001:db8::1") == ip("2001:db8:0:0::1")', true],
    ['ip.isCanonical("2001:db8::1") && !ip.isCanonical("2001:DB8::1")', true],
    ['isIP("1.2.3.4") && isIP("::1") && !isIP("1.2.3") && !isIP("01.2.3.4") && !isIP("1.2.3.256")', true],
    ['isIP("::ffff:1.2.3.4") || isIP("fe80::1%eth0") || isIP(":::") || isIP("1::2::3") || isIP("12345::")', false],
    ['isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0/33") && !isCIDR("10.0.0.0") && !isCIDR("::/129")', true],
    ['ip("127.0.0.1").isLoopback() && ip("::1").isLoopback()', true],
    ['ip("0.0.0.0").isUnspecified()', true],
    ['ip("169.254.1.1").isLinkLocalUnicast() && ip("fe80::1").isLinkLocalUnicast()', true],
    ['ip("224.0.0.5").isLinkLocalMulticast() && ip("ff02::1").isLinkLocalMulticast()', true],
    ['ip("8.8.8.8").isGlobalUnicast() && !ip("255.255.255.255").isGlobalUnicast()', true],
    ['ip("nowhere")', error('not an IP address')],
    ['cidr("10.0.0.0/x")', error('not a range')],
    ['cidr("10.0.0.0/8").containsIP("x")', error('not an IP address')],
    ['ip(5)', error('ip() cannot be applied to int')],
    ['type(ip(x.ip)) == net.IP', true],
  ],
  time: [
    ['duration("0")', '0s'],
    ['duration(".5s")', '0.5s'],
    ['duration("1.s")', '1s'],
    ['duration(".s")', error('not a duration')],
    ['timestamp("9999-12-31T23:59:59Z") - timestamp("0001-01-01T00:00:00Z")', error('out of range')],
    ['timestamp("2262-01-01T00:00:00Z") - timestamp("1970-01-01T00:00:00Z") > duration("1s")', true],
  ],
}

for (const [name, cases] of Object.entries(groups)) {
  for (const [source, expected] of cases) {
    test(`[CEL-7] ${name}: ${source}`, () => {
      const expression = compileExpression(source, ['x'])
      if (expected instanceof Error) {
        assert.throws(
          () => expression.evaluate({ x }),
          (thrown) => thrown instanceof CelError && thrown.message.includes(expected.message),
        )
      } else {
        assert.deepEqual(expression.evaluate({ x }), expected)
      }
    })
  }
}
