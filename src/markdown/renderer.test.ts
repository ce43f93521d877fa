import { register } from 'prom-client'
import { expect, test } from 'vitest'
import { MarkdownRenderer } from './renderer.ts'

const context = { siteUrl: 'https://git.example' }
const how = { caller: 'ann', version: 0 }

const rendersAs = async (result: string): Promise<number> => {
  const metric = await register.getSingleMetric('stithy_markdown_renders_total')!.get()
  return metric.values.find(({ labels }) => labels['result'] === result)?.value ?? 0
}

test('equal documents are rendered once, also by concurrent requests; another version renders them again', async () => {
  await using renderer = new MarkdownRenderer()
  const before = await rendersAs('html')
  const document = { text: 'once **only**', context }
  const all = await Promise.all([0, 1, 2].map(() => renderer.render([document, document], how)))
  expect(all.flat().map(({ parts }) => parts[0])).toEqual(Array(6).fill('<p>once <strong>only</strong></p>'))
  expect((await rendersAs('html')) - before).toBe(1)
  await renderer.render([document], { ...how, version: 1 })
  expect((await rendersAs('html')) - before).toBe(2)
})

test('a document that exceeds the processor time is its text, and others are rendered', async () => {
  // A limit below what any document of this size takes.
  await using renderer = new MarkdownRenderer({ threads: 1, processorMs: 1, timeoutMs: 600_000 })
  const long = '*a_ `b` '.repeat(50_000)
  const [first] = await renderer.render([{ text: long, context }], how)
  expect(first!.parts).toEqual([`<pre>${long}</pre>`])
  await using usual = new MarkdownRenderer({ threads: 1 })
  expect((await usual.render([{ text: 'a', context }], how))[0]!.parts).toEqual(['<p>a</p>'])
})

test('a document that exceeds the time is its text, and the thread is replaced', async () => {
  await using renderer = new MarkdownRenderer({ threads: 1, processorMs: 600_000, timeoutMs: 2 })
  const long = '*a_ `b` '.repeat(50_000)
  for (const text of [long, `${long}.`]) {
    const [rendered] = await renderer.render([{ text, context }], how)
    expect(rendered!.parts).toEqual([`<pre>${text}</pre>`])
  }
})

test('a document that needs more memory than a thread has is its text, and the next one is rendered', async () => {
  await using renderer = new MarkdownRenderer({ threads: 1, heapMb: 16, processorMs: 600_000, timeoutMs: 600_000 })
  const large = '- a\n'.repeat(20_000)
  expect((await renderer.render([{ text: large, context }], how))[0]!.parts[0]).toBe(`<pre>${large}</pre>`)
  expect((await renderer.render([{ text: 'a', context }], how))[0]!.parts).toEqual(['<p>a</p>'])
})

test('a caller with many documents leaves a thread to others', async () => {
  await using renderer = new MarkdownRenderer({ threads: 2 })
  const started = ['ann', 'bob'].map((caller) => renderer.render([{ text: caller, context }], { ...how, caller }))
  await Promise.all(started)
  const many = Array.from({ length: 300 }, (_, index) => ({ text: `**${index}** `.repeat(100), context }))
  const order: string[] = []
  const busy = Promise.all(
    [0, 1, 2].map((turn) =>
      renderer.render(many.slice(turn * 100, turn * 100 + 100), how).then(() => order.push('many')),
    ),
  )
  const single = renderer.render([{ text: 'one', context }], { ...how, caller: 'bob' }).then(() => order.push('one'))
  await Promise.all([busy, single])
  expect(order.indexOf('one')).toBeLessThan(3)
})
