import { expect } from 'vitest'
import { type Flow, flows } from '../revocation/flows.ts'
import { type Right, rights } from '../revocation/rights.ts'
import { setStage } from '../revocation/stage.ts'
import { hasSsh } from '../ssh.ts'
import { temporaryFolder, test } from '../world.ts'

/** Flows that a right ends, and that work until then. */
const endedBy = ({ takes, leaves }: Right): Flow[] =>
  flows.filter(
    ({ name, needs }) =>
      needs.some((need) => takes.includes(need)) &&
      (!leaves || needs.every((need) => leaves.includes(need))) &&
      (hasSsh || !name.includes('SSH')),
  )

test('every flow between projects is ended by a right, and every right ends a flow', () => {
  for (const right of rights) expect(endedBy(right), right.name).not.toEqual([])
  const ended = new Set(rights.flatMap(endedBy))
  expect(flows.filter((flow) => !ended.has(flow))).toEqual([])
})

test.for(rights)('nothing new crosses between projects once $name', async (right, { world }) => {
  await using folder = await temporaryFolder()
  const stage = await setStage(world, right, folder.path, hasSsh)
  const running = await Promise.all(
    endedBy(right).map(async ({ name, begin }, index) => ({ name, ...(await begin(stage, `flow-${index}`)) })),
  )
  await right.narrow?.(stage)

  const stuck: string[] = []
  for (const { name, arm, attempt } of running) {
    await arm?.()
    if (!(await attempt())) stuck.push(name)
  }
  expect(stuck, 'do not work even before').toEqual([])

  for (const { arm } of running) await arm?.()
  await right.revoke(stage)
  // Credentials may be cached briefly after their end.
  const tree = `/projects/${stage.guarded.id}/repository/tree`
  if (right.takes.some((need) => need === 'read' || need === 'token'))
    await expect.poll(async () => (await stage.ann.get(tree)).status).not.toBe(200)
  const leaks: string[] = []
  for (const { name, attempt } of running) if (await attempt()) leaks.push(name)
  expect(leaks).toEqual([])
})
