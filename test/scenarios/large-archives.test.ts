import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { benchFolder } from '../../bench/data.ts'
import { ensureRepository, git } from '../../bench/repository.ts'
import { mergeRequestRelation, projectRelations } from '../../src/modules/portability/layout/relations.ts'
import { administrator, craft, download, entriesOf, recordsOf, upload } from '../../src/modules/portability/testing.ts'
import { temporaryFolder, titleOf } from '../../src/processes/testing/launch.ts'
import { freshEnv, type Service, serve } from '../service.ts'
import { type Client, unique, git as withGit } from '../world.ts'

/**
 * A project is exported, imported and exported again: by default a small one. `STITHY_TEST_ARCHIVE=20000,10000,1000` has that many commits,
 * issues and merge requests, and prints what it costs.
 */
const [commits, issues, mergeRequests] = (process.env['STITHY_TEST_ARCHIVE'] ?? '300,40,12').split(',').map(Number) as [
  number,
  number,
  number,
]
const isMeasured = process.env['STITHY_TEST_ARCHIVE'] !== undefined
const mebibyte = 1024 * 1024

/** CPU seconds of a service by kind of process, with those of processes that have ended. */
function cpuOf({ launched }: Service): Record<string, number> {
  const seconds: Record<string, number> = {}
  for (const pid of launched.family()) {
    const kind =
      /^(stithy (worker|jobs|git runner)|postgres|git )/.exec(titleOf(pid).replace(/^\S*\/(postgres)/, '$1'))?.[0] ??
      'primary'
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ''
    const [own, ofEnded] = [11, 13].map((at) => {
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[at] ?? 0) + Number(fields[at + 1] ?? 0)) / 100
    })
    seconds[kind] = (seconds[kind] ?? 0) + own!
    const ended = kind === 'stithy git runner' ? 'git' : kind
    seconds[ended] = (seconds[ended] ?? 0) + ofEnded!
  }
  return seconds
}

/** Resident memory of a process in bytes; 0 if it has ended. */
function residentOf(pid: number): number {
  try {
    return 1024 * Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Runs work and reports what the processes of the service spend on it. Memory is what jobs and git have together. */
async function measured<T>(service: Service, name: string, work: () => Promise<T>): Promise<T> {
  if (!isMeasured) return work()
  const [before, began] = [cpuOf(service), performance.now()]
  let peak = { together: 0, jobs: 0, git: 0 }
  const sampling = setInterval(() => {
    const [jobs, ofGit] = ['stithy jobs', 'git'].map((title) =>
      service.launched.named(title).reduce((sum, pid) => sum + residentOf(pid), 0),
    ) as [number, number]
    if (jobs + ofGit > peak.together) peak = { together: jobs + ofGit, jobs, git: ofGit }
  }, 250)
  try {
    return await work()
  } finally {
    clearInterval(sampling)
    const after = cpuOf(service)
    const spent = Object.keys(after).map((kind) => [kind, (after[kind]! - (before[kind] ?? 0)).toFixed(1)])
    const total = spent.reduce((sum, [, seconds]) => sum + Number(seconds), 0)
    const memory = Object.entries(peak).map(([kind, bytes]) => [kind, `${Math.round(bytes / mebibyte)} MiB`])
    console.log(
      name,
      JSON.stringify({
        seconds: Math.round((performance.now() - began) / 1000),
        cpu: total.toFixed(1),
        ...Object.fromEntries(spent),
        memory: Object.fromEntries(memory),
      }),
    )
  }
}

/** Asks until the state is one that ends, however long that takes. */
async function stateAfter(ask: () => Promise<string>, endings: readonly string[]): Promise<string> {
  for (;;) {
    const state = await ask()
    if (endings.includes(state)) return state
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function exported(service: Service, id: number, name: string): Promise<Buffer> {
  const one = await administrator(service)
  await measured(service, name, async () => {
    expect((await one.post(`/projects/${id}/export`)).status).toBe(202)
    const state = () => one.get(`/projects/${id}/export`).then(({ json }) => json.export_status)
    expect(await stateAfter(state, ['finished', 'none'])).toBe('finished')
  })
  return (await download(service, one, `/projects/${id}/export/download`)).body
}

async function imported(service: Service, archive: Buffer, name: string): Promise<number> {
  const made = await upload(service.root, archive, { path: unique('imported') })
  const at = `/projects/${made.json.id}/import`
  await measured(service, name, () =>
    stateAfter(async () => (await service.root.get(at)).json.import_status, ['finished', 'failed']),
  )
  expect((await service.root.get(at)).json).toMatchObject({ import_status: 'finished', import_error: null })
  return made.json.id
}

/** A project with one issue, one merge request, and each kind of record that surrounds them. */
async function stage({ root, origin }: Service, repository: string, people: readonly Client[]) {
  const [ann, ben] = people as [Client, Client]
  const path = unique('large')
  const { json } = await root.post('/projects', { path })
  const url = `${origin.replace('//', `//root:${root.token}@`)}/root/${path}.git`
  await withGit(repository, 'push', '-q', url, 'main', '--tags')
  const [head, base] = git(repository, 'rev-list', '--first-parent', '-n', '2', 'main').split('\n') as [string, string]
  await withGit(repository, 'push', '-q', url, `${base}:refs/heads/before`)
  const at = `/projects/${json.id}`
  const ok = async (answer: Promise<{ status: number; text: string; json: any }>) => {
    const { status, text, json: made } = await answer
    if (status >= 300) throw new Error(`${status}: ${text}`)
    return made
  }
  for (const [who, access_level] of [
    [ann, 40],
    [ben, 30],
  ] as const)
    await ok(root.post(`${at}/members`, { user_id: who.id, access_level }))
  for (let n = 0; n < 20; n++) await ok(root.post(`${at}/labels`, { name: `label ${n}`, color: '#112233' }))
  const milestone = await ok(root.post(`${at}/milestones`, { title: 'Größe 💡', due_date: '2031-01-01' }))
  const surround = async (on: string) => {
    const text = `See @${ben.username} – 漏洞 `.repeat(20)
    await ok(ann.put(on, { labels: 'label 1,label 2,label 3', milestone_id: milestone.id, description: text }))
    await ok(ann.put(on, { remove_labels: 'label 3', assignee_ids: [ben.id] }))
    const note = await ok(ben.post(`${on}/notes`, { body: text }))
    await ok(ann.post(`${on}/notes/${note.id}/award_emoji`, { name: 'rocket' }))
    const thread = await ok(ann.post(`${on}/discussions`, { body: text }))
    await ok(ben.post(`${on}/discussions/${thread.id}/notes`, { body: text }))
    await ok(ann.post(`${on}/award_emoji`, { name: 'tada' }))
    await ok(ben.post(`${on}/add_spent_time`, { duration: '1h' }))
    await ok(ann.put(on, { state_event: 'close' }))
  }
  await ok(ann.post(`${at}/issues`, { title: 'Ein Fehler – 漏洞', weight: 3 }))
  await ok(ann.post(`${at}/issues`, { title: 'Another', confidential: true }))
  await ok(ann.post(`${at}/issues/1/links`, { target_project_id: json.id, target_issue_iid: 2 }))
  await surround(`${at}/issues/1`)
  const on = `${at}/merge_requests/1`
  await ok(ben.post(`${at}/merge_requests`, { source_branch: 'main', target_branch: 'before', title: 'x: closes #1' }))
  const diff = git(repository, 'diff', '-U0', base, head)
  const [, file, line] = /^\+\+\+ b\/(.+)\n@@ -\S+ \+(\d+)/m.exec(diff)!
  const position = {
    position_type: 'text',
    base_sha: base,
    start_sha: base,
    head_sha: head,
    old_path: file,
    new_path: file,
    new_line: Number(line),
  }
  await ok(ann.post(`${on}/discussions`, { body: 'On a line', position }))
  await ok(ann.put(on, { reviewer_ids: [ben.id] }))
  await ok(ann.post(`${on}/approve`))
  await surround(on)
  return { id: json.id as number, head, base }
}

type Block = { readonly copies: number; readonly perCopy: number }

/**
 * Repeats everything about issues and merge requests in an archive: each copy has numbers and discussions of its own and refers to the records
 * of its copy. Copies of the merge request are about other commits.
 */
function multiplied(archive: ReadonlyMap<string, Buffer>, heads: readonly string[], head: string, base: string) {
  const entries = new Map(archive)
  const blocks = new Map<string, Block>()
  for (const { name, columns } of projectRelations) {
    const given = recordsOf(archive, name)
    const parent = Object.values(columns).find((column) => column.is === 'reference' && blocks.has(column.to))
    const copies =
      name === 'issues'
        ? issues / given.length
        : name === mergeRequestRelation.name
          ? mergeRequests
          : parent?.is === 'reference' && blocks.get(parent.to)?.copies
    if (!copies) continue
    blocks.set(name, { copies, perCopy: given.length })
    const lines: string[] = []
    for (let copy = 0; copy < copies; copy++)
      for (const record of given) {
        const made = { ...record }
        for (const [key, column] of Object.entries(columns)) {
          const block = column.is === 'reference' && blocks.get(column.to)
          if (block && made[key] !== undefined) made[key] += Math.min(copy, block.copies - 1) * block.perCopy
        }
        if (made.iid !== undefined) made.iid += copy * given.length
        if (made.discussion_id !== undefined)
          made.discussion_id = copy.toString(16).padStart(8, '0') + made.discussion_id.slice(8)
        const at = (2 * copy) % (heads.length - 1)
        lines.push(
          JSON.stringify(made)
            .replaceAll(head, heads[at]!)
            .replaceAll(base, heads[at + 1]!),
        )
      }
    if (lines.length > 0) entries.set(`tree/project/${name}.ndjson`, Buffer.from(`${lines.join('\n')}\n`))
  }
  const bundle = archive.get('project.bundle')!
  const end = bundle.indexOf('\n\n') + 1
  const refs = Array.from(
    { length: mergeRequests - 1 },
    (_, n) => `${heads[(2 * (n + 1)) % (heads.length - 1)]} refs/merge-requests/${n + 2}/head\n`,
  )
  entries.set(
    'project.bundle',
    Buffer.concat([bundle.subarray(0, end), Buffer.from(refs.join('')), bundle.subarray(end)]),
  )
  return entries
}

const linesOf = (entries: ReadonlyMap<string, Buffer>): Record<string, number> =>
  Object.fromEntries(projectRelations.map(({ name }) => [name, recordsOf(entries, name).length]))

test(`export, import and export give equal bytes for ${commits} commits, ${issues} issues and ${mergeRequests} merge requests`, {
  // Git packs at a low priority, so beside other tests a bundle takes many times as long.
  timeout: isMeasured ? 3_600_000 : 900_000,
}, async () => {
  const repository = await ensureRepository(commits === 20_000 ? benchFolder : await temporaryFolder(), commits)
  const service = await serve({ ...(await freshEnv()) })
  const people = [await administrator(service), await administrator(service)]
  const { id, head, base } = await stage(service, repository, people)
  const template = await entriesOf(await exported(service, id, 'export of the repository'))
  const heads = git(repository, 'rev-list', '--first-parent', '-n', String(2 * mergeRequests + 1), 'main').split('\n')
  const entries = multiplied(template, heads, head, base)
  const given = craft([...entries].map(([name, content]) => ({ name, content })))

  const first = await exported(service, await imported(service, given, 'import'), 'export')
  const firstEntries = await entriesOf(first)
  expect(linesOf(firstEntries)).toEqual(linesOf(entries))
  expect(recordsOf(firstEntries, 'issues')).toHaveLength(issues)
  expect(recordsOf(firstEntries, 'merge_requests')).toHaveLength(mergeRequests)
  if (isMeasured) console.log(`archive: ${first.length} bytes`, JSON.stringify(linesOf(firstEntries)))
  const second = await exported(service, await imported(service, first, 'second import'), 'second export')
  expect(second.equals(first)).toBe(true)
})
