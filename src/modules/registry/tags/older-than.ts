const second = 1000
const units: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^s(ec(ond)?s?)?$/, second],
  [/^m(in(ute)?s?)?$/, 60 * second],
  [/^h((ou)?rs?)?$/, 3600 * second],
  [/^d(ays?)?$/, 86_400 * second],
  [/^w((ee)?ks?)?$/, 7 * 86_400 * second],
  [/^mo(n(th)?s?)?$/, 30 * 86_400 * second],
  [/^y((ea)?rs?)?$/, 365 * 86_400 * second],
]

/** Longer texts are not parsed. */
const maxLength = 100
/** Ten thousand years, which is before every date. */
const maxMs = 10_000 * 365 * 86_400 * second

/** Milliseconds of a text such as `1h`, `1 month` or `1 day 2 hours`; undefined if it is none. */
export function parseDuration(text: string): number | undefined {
  const words = text.trim().toLowerCase()
  if (words.length > maxLength || !/^(\d{1,9}(\.\d{1,9})?\s*[a-z]+[\s,]*)+$/.test(words)) return undefined
  let total = 0
  for (const [, number, unit] of words.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    const ms = units.find(([names]) => names.test(unit!))?.[1]
    if (ms === undefined) return undefined
    total += Number(number) * ms
  }
  return Math.min(total, maxMs)
}
