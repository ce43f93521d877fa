import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { eventually } from '../../../../test/waiting.ts'
import { test, type World } from '../../../../test/world.ts'
import { Dispatcher } from './dispatcher.ts'
import { maxAttempts } from './schedule.ts'
import { hookFor, openIssue, quick, quickWorld } from './testing.ts'

/** A sender as that of a process that is killed while a receiver does not answer: nothing of it is saved. */
async function killedWhileSending(world: World, receiver: HookReceiver): Promise<Dispatcher> {
  const open = () => contextFor(world, null)
  const { log } = await open()
  const sender = new Dispatcher({ open, log, times: { ...quick, request: 600_000 } })
  const before = receiver.received.length
  sender.start()
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(before))
  return sender
}

test('a delivery whose process ends again and again while it is sent is given up, and the next one follows', async () => {
  await using world = await quickWorld()
  await using receiver = await HookReceiver.start()
  receiver.answering = () => {}
  const project = await world.project()
  const at = await hookFor(world, project, receiver.url)
  const issue = await openIssue(world, project, 'deadly')
  const killed: Dispatcher[] = []
  try {
    for (let n = 0; n < maxAttempts; n++) killed.push(await killedWhileSending(world, receiver))
    receiver.answering = (_received, response) => void response.writeHead(200).end()
    expect((await world.root.put(issue, { title: 'harmless' })).status).toBe(200)
    await world.runJobs()
    await receiver.request(({ json }) => json.object_attributes.title === 'harmless')
    const { json } = await world.root.get(`${at}/events?state=failed`)
    expect(json).toMatchObject([{ attempts: maxAttempts, error: 'The service ended while it was sending' }])
  } finally {
    await Promise.all(killed.map((sender) => sender.stop()))
  }
})
