import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../processes/testing/launch.ts'
import { BackupStore } from './store.ts'

test('of two installations that make a store in one folder at once, only one uses it', async () => {
  const url = `file://${await temporaryFolder()}/store`
  const open = (installation: string) => BackupStore.open(url, { keyFile: undefined, create: { installation } })
  const both = (await Promise.allSettled([open('one'), open('two')])).flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : [],
  )
  // One after the other: it is not the lease that decides.
  const used: string[] = []
  for (const store of both)
    await store
      .exclusively(
        { name: 'a process', isGone: () => true },
        () => {},
        async () => void used.push(store.installation),
      )
      .catch((error) => expect(error.message).toMatch(/^Another installation has begun to use /))
  expect(used).toHaveLength(1)
  await expect(open(used[0]!)).resolves.toMatchObject({ installation: used[0] })
})

test('a process whose lease another one has taken completes no backup, deletes nothing, and leaves the lease', async () => {
  const folder = join(await temporaryFolder(), 'store')
  using store = await BackupStore.open(`file://${folder}`, { keyFile: undefined, create: { installation: 'one' } })
  const lease = join(folder, 'lease')
  const theirs = 'another-process 0 elsewhere 1\n'
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const content = Buffer.from('used by the other process')
  const id = '20260102T030405Z-00000001'
  const refused = /^Another process has begun to change the backups/
  await store.exclusively(
    { name: 'a process', isGone: () => true },
    () => {},
    async () => {
      await store.put(store.nameOf(content), content)
      await store.putManifest(id, {})
      await vi.advanceTimersByTimeAsync(20_000)
      await expect.poll(() => readFile(lease, 'utf8')).toMatch(/ 1 a process\n$/)
      await writeFile(lease, theirs)
      await vi.advanceTimersByTimeAsync(60_000)
      await expect(store.putManifest('20260102T030406Z-00000001', {})).rejects.toThrow(refused)
      await expect(store.remove([id], () => false)).rejects.toThrow(refused)
    },
  )
  expect(await readFile(lease, 'utf8')).toBe(theirs)
  expect(await store.ids()).toEqual([id])
  expect(await store.get(store.nameOf(content))).toEqual(content)
})
