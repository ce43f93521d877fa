import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test } from '../../../../test/world.ts'
import { importFromForge } from '../forges/jobs.ts'
import { importGroupArchive } from './group-jobs.ts'
import { importArchive } from './jobs.ts'

test('an import that was killed when it was complete leaves no folder after its job ran again', async ({ world }) => {
  const ctx = await contextFor(world, null)
  const folders = join(dirname(ctx.repositoriesDir), 'tmp', 'archives')
  const { id: groupId } = await world.group()
  const { id: projectId } = await world.project()
  const names = [`import-group-${groupId}`, `import-${projectId}`, `forge-${projectId}`]
  const left = names.map((name) => join(folders, name))
  for (const folder of left) await mkdir(folder, { recursive: true })
  await importGroupArchive.run({ groupId }, ctx)
  await importArchive.run({ projectId, storage: 'default' }, ctx)
  await importFromForge.run({ projectId, storage: 'default' }, ctx)
  expect(left.filter((folder) => existsSync(folder))).toEqual([])
})
