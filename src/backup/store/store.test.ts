import { expect, test } from 'vitest'
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
