import { test } from '../../../test/world.ts'
import { storedProject } from '../commits/testing.ts'

test('cost', async ({ world }) => {
  const ann = await world.user()
  const project = await storedProject(world, { visibility: 'private', members: [[ann, 'developer']] })
  project.repository.commit({ 'dir/a.txt': 'one\n', 'b.txt': 'b\n' })
  const send = (n: number) =>
    ann.post(`/projects/${project.id}/repository/files/dir%2Fx${n}.txt`, {
      branch: 'main',
      content: `two ${n}\n`,
      commit_message: 'Change',
    })
  for (let n = 0; n < 30; n++) await send(n)
  const times: number[] = []
  const reads: number[] = []
  for (let n = 100; n < 300; n++) {
    let began = performance.now()
    await send(n)
    times.push(performance.now() - began)
    began = performance.now()
    await ann.get(`/projects/${project.id}/repository/commits/main?stats=false`)
    reads.push(performance.now() - began)
  }
  const mid = (t: number[]) => {
    t.sort((a, b) => a - b)
    return [t[100]!.toFixed(2), t[190]!.toFixed(2)]
  }
  console.log('write p50 p95', mid(times), 'read', mid(reads))
}, 60000)
