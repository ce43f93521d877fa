import { execFile } from 'node:child_process'
import { copyFile, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder, World } from '../world.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** Runs Node in `folder`; rejects with what it printed when it fails. */
const node = async (folder: string, ...args: string[]): Promise<string> => {
  const { stdout } = await run(process.execPath, args, { cwd: folder }).catch(({ stdout: out, stderr }) => {
    throw new Error(`node ${args.join(' ')}\n${out}${stderr}`)
  })
  return stdout
}

test('a client generated from the OpenAPI document compiles, knows every record, and merges a branch', async () => {
  await using folder = await temporaryFolder()
  const { path } = folder
  await symlink(join(root, 'node_modules'), join(path, 'node_modules'))
  await writeFile(join(path, 'package.json'), '{ "type": "module" }')
  await copyFile(join(root, 'test/client/scenario.ts'), join(path, 'scenario.ts'))
  const generator = join(root, 'node_modules/openapi-typescript/bin/cli.js')
  // A parameter with a default may be left out.
  const options = ['--default-non-nullable', 'false']
  const hooks = new URL('../client/hooks.ts', import.meta.url).href
  await node(path, '--import', hooks, generator, join(root, 'docs/openapi.json'), '-o', 'api.ts', ...options)

  const types = await readFile(join(path, 'api.ts'), 'utf8')
  expect(types.match(/"application\/json": unknown/g)).toBeNull()
  expect(types.match(/\w+Request\d/g)).toBeNull()
  const compilerOptions = {
    ...{ target: 'ES2024', module: 'NodeNext', strict: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ exactOptionalPropertyTypes: true, allowImportingTsExtensions: true, skipLibCheck: true, types: ['node'] },
  }
  await writeFile(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['scenario.ts'] }))
  await node(path, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.', '--singleThreaded')

  await using world = await World.start()
  await world.runJobs()
  const ann = await world.user()
  expect(JSON.parse(await node(path, 'scenario.ts', world.origin, ann.token!))).toEqual({
    message: 'Add a note',
    state: 'merged',
    author: ann.username,
    level: 40,
    names: ['a', 'b', 'c', 'main', 'topic'],
    sizes: [2, 2, 1],
    unused: true,
  })
})
