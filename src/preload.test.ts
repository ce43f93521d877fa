import { expect, test } from 'vitest'
import { runSync } from '../test/programs/run.ts'

/** Libraries that a process has loaded after `work` on the commands, of those that only one role needs. */
function librariesAfter(work: string): string[] {
  const code = `
    import { registerHooks } from 'node:module'
    const seen = new Set()
    registerHooks({
      load(url, context, next) {
        const [, name] = /node_modules\\/(fastify|graphile-worker|graphql|ssh2|@aws-sdk)\\//.exec(url) ?? []
        if (name) seen.add(name)
        return next(url, context)
      },
    })
    const commands = await import(${JSON.stringify(new URL('./commands.ts', import.meta.url).href)})
    ${work}
    console.log(JSON.stringify([...seen].sort()))`
  const { stdout } = runSync(process.execPath, ['--input-type=module', '--eval', code])
  return JSON.parse(stdout)
}

test('a command loads neither the HTTP server nor the job runner', () => {
  expect(librariesAfter('')).toEqual([])
})

test.for([
  ['worker', ['fastify']],
  ['jobs', ['graphile-worker']],
] as const)('the role %s loads only the libraries that it needs', ([role, libraries]) => {
  expect(librariesAfter(`await commands.preload('${role}')`)).toEqual(libraries)
})
