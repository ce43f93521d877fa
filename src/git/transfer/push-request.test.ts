import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { PackEnd, parseSmallRequest } from './push-request.ts'

test('bytes that begin no pkt-line are left to git at once, because over SSH no more may come', () => {
  for (const text of ['z', '00zz', 'zzzz', '0003', 'GET / HTTP/1.1']) {
    const command = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/main\0 report-status side-band-64k`
    const first = `${(command.length + 4).toString(16).padStart(4, '0')}${command}`
    for (const bytes of [text, first + text]) expect(parseSmallRequest(Buffer.from(bytes)), bytes).toBe('git')
    expect(parseSmallRequest(Buffer.from(first))).toBe('more')
  }
  for (const text of ['', '0', '00', '00A', '00a5', '00a5 and more'])
    expect(parseSmallRequest(Buffer.from(text))).toBe('more')
})

test('the end of a pack is recognized at its last byte, in whatever pieces it arrives', () => {
  const start = Buffer.concat([
    Buffer.from('PACK'),
    Buffer.from([0, 0, 0, 2, 0, 0, 0, 1]),
    Buffer.from('content '.repeat(20)),
  ])
  const pack = Buffer.concat([start, createHash('sha1').update(start).digest()])
  for (const step of [1, 2, 7, 19, 20, 21, pack.length]) {
    const end = new PackEnd()
    for (let size = step; size < pack.length; size += step) expect(end.isReached(pack.subarray(0, size))).toBe(false)
    expect(end.isReached(pack)).toBe(true)
    expect(end.isReached(pack)).toBe(true)
  }
})
