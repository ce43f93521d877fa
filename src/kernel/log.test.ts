import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** The log lines of a process that ends after these statements without closing its log. */
function linesOf(statements: string): string[] {
  const module = JSON.stringify(new URL('./log.ts', import.meta.url).href)
  const code = `const { openLog } = await import(${module}); const { log } = openLog('info'); ${statements}; process.exit(1)`
  try {
    execFileSync('node', ['--input-type=module', '-e', code], { encoding: 'utf8' })
  } catch (error) {
    const { stdout } = error as { stdout: string }
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).msg)
  }
  return []
}

test('log lines are written although the process ends at once', () => {
  expect(linesOf(`log.info('before'); log.error('broken')`)).toEqual(['before', 'broken'])
})
