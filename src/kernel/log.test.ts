import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** The log lines of a process that ends after these statements without closing its log. */
function linesOf(statements: string): { msg: string; time: string }[] {
  const module = JSON.stringify(new URL('./log.ts', import.meta.url).href)
  const code = `const { openLog } = await import(${module}); const { log } = openLog('info'); ${statements}; process.exit(1)`
  try {
    execFileSync('node', ['--input-type=module', '-e', code], { encoding: 'utf8' })
  } catch (error) {
    const { stdout } = error as { stdout: string }
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }
  return []
}

test('log lines are written although the process ends at once', () => {
  expect(linesOf(`log.info('before'); log.error('broken')`)).toMatchObject([{ msg: 'before' }, { msg: 'broken' }])
})

test('each log line has its time, to the millisecond, even if the clock is set back', () => {
  const times = [
    '2026-01-02T03:04:05.006Z',
    '2026-01-02T03:04:05.999Z',
    '2026-01-02T03:04:06.000Z',
    '2026-01-02T03:04:05.070Z',
  ]
  const logAt = (time: string) =>
    `globalThis.Date = class extends Real { constructor(at = '${time}') { super(at) } }; log.error('line')`
  expect(linesOf(`const Real = Date; ${times.map(logAt).join('; ')}`).map(({ time }) => time)).toEqual(times)
})
