import { describe, expect, test } from 'vitest'
import { FetchRequest, fetchLimits } from './fetch-request.ts'

const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
const oid = 'a'.repeat(40)
const limits = {
  ...fetchLimits,
  want: 3,
  have: 4,
  shallow: 2,
  deepen: 1,
  other: 5,
  bytes: 1_000,
  filterBytes: 30,
  otherBytes: 200,
}

/** Parses these words in pieces of each of these sizes. */
function take(text: string, { version2 = true, pieces = [1, 3, 7, 1_000] } = {}): void {
  const bytes = Buffer.from(text)
  for (const size of pieces) {
    const request = new FetchRequest({ version2, limits })
    for (let at = 0; at < bytes.length; at += size) request.push(bytes.subarray(at, at + size))
  }
}

describe('fetch request limits', () => {
  test.for([
    ['want', `want ${oid}\n`, 3],
    ['have', `have ${oid}\n`, 4],
    ['shallow', `shallow ${oid}\n`, 2],
    ['deepen', 'deepen-not main\n', 1],
    ['filter', 'filter blob:none\n', 1],
    ['other', 'agent=x\n', 5],
  ] as const)('a fetch request may have up to the limit of lines of the kind %s', ([kind, text, most]) => {
    take(line(text).repeat(most))
    expect(() => take(line(text).repeat(most + 1))).toThrow(
      `The fetch asks for too much: at most ${most} lines of the kind '${kind}'`,
    )
  })

  test('a fetch request with a long filter or too many bytes is refused', () => {
    expect(() => take(line(`filter combine:${'tree:3+'.repeat(10)}`))).toThrow('at most 30 bytes of filter')
    expect(() => take(line(`ref-prefix ${'x'.repeat(190)}`))).toThrow('at most 200 bytes of other lines')
    expect(() => take('x'.repeat(1_001))).toThrow('at most 1000 bytes')
  })

  test('a flush ends a request of protocol 2, but not of older protocols', () => {
    const request = `${line(`want ${oid}\n`).repeat(3)}0001${line('done')}0000`
    take(request.repeat(5))
    expect(() => take(request.repeat(2), { version2: false })).toThrow("of the kind 'want'")
  })

  test('a fetch request of protocol 2 with the end of a response is refused', () => {
    for (const text of ['0002', `${line('command=fetch')}00020000`, `${line('command=fetch')}0001${line('done')}0002`])
      expect(() => take(text)).toThrow('The fetch contains the end of a response')
    take(line('0002'))
    take('0002', { version2: false })
  })

  test('a malformed fetch request is left to git, within the byte limit', () => {
    for (const text of ['zzzz', '0003', `${line('a')}!!!!${line(`want ${oid}\n`).repeat(9)}`, '0004'.repeat(9)])
      take(text)
  })

  test('a fetch request of 100,000 wants, haves and shallow commits is within the limits', () => {
    const request = new FetchRequest({ version2: true })
    for (const kind of ['want', 'have', 'shallow']) request.push(Buffer.from(line(`${kind} ${oid}\n`).repeat(100_000)))
  })
})
