import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newArea, withArea } from '../../tools/scaffold/area.ts'
import { namesOf } from '../../tools/scaffold/templates.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** A writable copy of the project. */
async function copy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-new-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['src', 'test', 'tools', 'tsconfig.json', 'package.json', 'biome.json'])
    await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

describe('npm run new area', () => {
  test('npm run new area writes an area that is listed, keeps the boundaries and passes the linter', async () => {
    const folder = await copy()
    const written = await newArea(folder, 'planning/test-widgets')
    expect(written).toContain('src/modules/planning/test-widgets/routes.ts')
    expect(await readFile(join(folder, 'src/modules/endpoints.ts'), 'utf8')).toMatch(
      / {2}'test-widgets': testWidgetsRoutes,\n {2}'time-tracking':/,
    )
    const there = { cwd: folder, encoding: 'utf8' as const }
    const listed = await run(
      process.execPath,
      ['-e', `import('./src/modules/endpoints.ts').then((m) => console.log(m.areas['test-widgets'][0].path))`],
      there,
    )
    expect(listed.stdout.trim()).toBe('/projects/:id/test_widgets')
    expect((await run(process.execPath, ['tools/boundaries.ts'], there)).stdout).toContain('keep the boundaries')
    await run(
      process.execPath,
      [
        'node_modules/@biomejs/biome/bin/biome',
        'check',
        '--vcs-enabled=false',
        'src/modules/planning/test-widgets',
        'src/modules/endpoints.ts',
      ],
      there,
    )
  })

  test('the code that npm run new area writes type-checks', async () => {
    const folder = await copy()
    await newArea(folder, 'planning/test-widgets')
    // With what they import. All files of the project would take twice as long.
    const written = {
      extends: './tsconfig.json',
      include: ['src/modules/planning/test-widgets', 'src/modules/endpoints.ts', 'src/**/*.d.ts'],
    }
    await writeFile(join(folder, 'tsconfig.area.json'), JSON.stringify(written))
    const { stdout } = await run(
      process.execPath,
      ['node_modules/typescript/bin/tsc', '--noEmit', '--singleThreaded', '--project', 'tsconfig.area.json'],
      { cwd: folder },
    ).catch((error: { stdout: string }) => error)
    expect(
      stdout
        .split('\n')
        .filter(
          (line) =>
            line.startsWith('src/modules/planning/test-widgets/') || line.startsWith('src/modules/endpoints.ts'),
        ),
    ).toEqual([])
  })

  test.for([
    ['planning/Labels', 'is not kebab-case'],
    ['planning/label', 'is not a plural'],
    ['labels', 'names no module'],
    ['plans/labels', 'names an unknown module'],
    ['../labels', 'leaves the folder'],
    ['projects/projects', 'exists'],
  ])('npm run new area refuses %s, which %s', async ([noun]) => {
    await expect(newArea(root, noun!)).rejects.toThrow(/name a module and a plural noun|there is no module|exists/)
  })

  test('names of records and routes follow the noun of a new area', () => {
    expect(namesOf('merge-requests')).toEqual({
      noun: 'merge-requests',
      snake: 'merge_requests',
      camel: 'mergeRequests',
      record: 'MergeRequest',
    })
    expect(namesOf('categories').record).toBe('Category')
  })

  test('a new area is listed in alphabetical order, the last one too', () => {
    const text = `import type { X } from '../x.ts'\nimport { aRoutes } from './ci/a/routes.ts'\n\nexport const areas: X = {\n  a: aRoutes,\n}\n`
    expect(withArea(text, 'planning/labels', 'labelsRoutes')).toBe(
      `import type { X } from '../x.ts'\nimport { aRoutes } from './ci/a/routes.ts'\nimport { labelsRoutes } from './planning/labels/routes.ts'\n\nexport const areas: X = {\n  a: aRoutes,\n  labels: labelsRoutes,\n}\n`,
    )
  })
})
