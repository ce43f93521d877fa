import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { basic, launchLogged } from '../logged-service.ts'
import { hasSsh, ssh, withKey } from '../ssh.ts'
import { eventually } from '../waiting.ts'
import { Client, git } from '../world.ts'

/** The names of the metrics of docs/logging.md; a name that begins with `_` continues the one before it. */
async function documentedMetrics(): Promise<string[]> {
  const text = await readFile(new URL('../../docs/logging.md', import.meta.url), 'utf8')
  const rows = text.slice(text.indexOf('## Metrics')).match(/^\| `stithy_.*$/gm) ?? []
  return rows.flatMap((row) => {
    const names = [...row.split(' | ')[0]!.matchAll(/`(\w+)(?:…)?`/g)].map(([, name]) => name!)
    const [first = ''] = names
    return names.map((name) => (name.startsWith('_') ? first.replace(/_running$/, '') + name : name))
  })
}

/** The value of a series; NaN without it. */
const valueIn = (text: string, series: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1) ?? Number.NaN,
  )

describe.skipIf(!hasSsh)('the metrics of a service (needs OpenSSH)', () => {
  test('every metric of the documentation is there, and each counts what happens', async () => {
    const { origin, root, anonymous, at } = await launchLogged()
    const folder = await temporaryFolder()
    const user = { username: 'ann', name: 'Ann', email: 'ann@example.com', password: 'correct horse battery' }
    const { id } = (await root.post('/users', { ...user, skip_confirmation: true })).json
    const made = await root.post(`/users/${id}/personal_access_tokens`, { name: 't', scopes: ['api'] })
    const ann = new Client(origin, { id, username: 'ann', token: made.json.token })
    const key = await withKey(folder, ann)
    const metrics = async () => (await root.get('//-/metrics')).text
    const before = await metrics()

    const project = (await ann.post('/projects', { name: 'counted', initialize_with_readme: true })).json
    await ann.get(`/projects/${project.id}`)
    await ann.get(`/projects/${project.id}`)
    await ann.get('/no/such/route')
    await ann.post('/markdown', { text: '*text*' })
    const url = `${origin.replace('//', `//ann:${ann.token}@`)}/ann/counted.git`
    const copy = join(folder, 'copy')
    await git(folder, 'clone', '-q', url, copy)
    await git(copy, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'more')
    await git(copy, 'push', '-q', 'origin', 'HEAD')
    await ssh(at, key)
    await anonymous.get('//ann/counted.git/info/refs?service=git-upload-pack', { headers: basic('ann', 'guess') })

    const grew: [string, number][] = [
      ['stithy_http_requests_total{method="GET",route="/api/v4/projects/:id",status="200"}', 2],
      ['stithy_http_request_duration_seconds_count{method="GET",route="/api/v4/projects/:id"}', 2],
      ['stithy_http_requests_total{method="GET",route="none",status="404"}', 1],
      // One request lists the refs, and one gets the objects.
      ['stithy_git_operation_duration_seconds_count{operation="git-upload-pack",transport="http",result="success"}', 2],
      [
        'stithy_git_operation_duration_seconds_count{operation="git-receive-pack",transport="http",result="success"}',
        1,
      ],
      ['stithy_git_operation_duration_seconds_count{operation="other",transport="ssh",result="success"}', 1],
      ['stithy_sign_in_failures_total{transport="git-http",reason="wrong"}', 1],
      ['stithy_markdown_renders_total{result="html"}', 1],
    ]
    await eventually(async () => {
      const after = await metrics()
      const growth = grew.map(([series]) => [series, valueIn(after, series) - (valueIn(before, series) || 0)])
      expect(growth).toEqual(grew)
      // The push has jobs, which the jobs process takes.
      const taken = 'stithy_jobs_last_taken_timestamp_seconds'
      expect(valueIn(after, taken)).toBeGreaterThan(valueIn(before, taken) || 0)
    })

    const after = await metrics()
    const present = new Set([...after.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!))
    const documented = await documentedMetrics()
    const isPresent = (name: string) =>
      present.has(name) || (name.endsWith('_') && [...present].join(' ').includes(name))
    expect(documented.filter((name) => !isPresent(name))).toEqual([])
    const isDocumented = (name: string) =>
      documented.some((each) => each === name || (each.endsWith('_') && name.startsWith(each)))
    expect([...present].filter((name) => !isDocumented(name))).toEqual([])
    for (const series of [
      'stithy_disk_free_bytes',
      'stithy_disk_size_bytes',
      'stithy_jobs{state="due"}',
      'stithy_jobs{state="failed"}',
      'stithy_jobs_oldest_due_seconds',
      'stithy_git_lane_running{lane="short"}',
      'stithy_database_pool_running{pool="readers"}',
      'stithy_database_pool_oldest_wait_seconds{pool="readers"}',
      'stithy_ssh_connections',
    ])
      expect({ series, value: valueIn(after, series) }).toEqual({ series, value: expect.any(Number) })
    expect(after).toMatch(/^stithy_build_info\{version="\d+\.\d+\.\d+",node="v\d+/m)
  })
})
