import { describe, expect } from 'vitest'
import type { Endpoint } from '../../src/api/endpoint.ts'
import type { Oid } from '../../src/git/format/oid.ts'
import { endpoints } from '../../src/modules/endpoints.ts'
import {
  hostilePaths,
  hostileRefs,
  type StoredProject,
  storedProject,
} from '../../src/modules/repository/commits/testing.ts'
import { type Answer, test, type World } from '../world.ts'

/**
 * Sends hostile parameters to every endpoint that reads or writes a repository with content: one parameter at a time, with
 * valid values for the others, so that without the hostile text the call would reach git.
 */

const ofRepositories = endpoints.filter(({ path }) =>
  /^\/projects\/:id\/(repository|statuses|pipelines|jobs|search)/.test(path),
)

/** Parameters that name refs or commits, and those that are paths. */
const refSinks =
  'ref ref_name sha refs from to branch start_branch start_sha start_project tag_name last_commit_id page_token search'.split(
    ' ',
  )
const pathSinks = ['file_path', 'path', 'actions.file_path', 'actions.previous_path', 'submodule']

/** Parameters that name a new ref: their own tests compare with git which names are valid. */
const makesNames: readonly string[] = [
  'POST /projects/:id/repository/branches branch',
  'POST /projects/:id/repository/tags tag_name',
  'POST /projects/:id/repository/files/:file_path file_path',
  // A comment on a line that does not exist becomes a comment on the commit.
  'POST /projects/:id/repository/commits/:sha/comments path',
]

type Params = Record<string, unknown>

/** The parameters of a call, except for the project. */
const namesOf = (e: Endpoint): string[] =>
  Object.keys({ ...e.subject.params.properties, ...e.params?.properties }).filter((name) => name !== 'id')

/** A valid branch or tag: a new one, a target for a cherry-pick, or one to write to. */
const branchFor = ({ method, path }: Endpoint): string => {
  if (method === 'POST' && path.endsWith('/branches')) return 'new'
  return /branches|cherry_pick/.test(path) ? 'side' : 'main'
}

/** A project with one of everything that an endpoint may name. */
type Stock = { project: StoredProject; commit: Oid; tip: Oid; ids: Params }

async function stock(world: World): Promise<Stock> {
  const project = await storedProject(world)
  const module = { mode: '160000', oid: '1'.repeat(40) as Oid } as const
  const commit = project.repository.commit({ seed: 'seed\n', 'folder/file': 'f\n', module })
  const tip = project.repository.commit({ more: 'm\n' })
  project.repository.git('branch', 'side', commit)
  project.repository.git('tag', 'v9', commit)
  const at = `/projects/${project.id}`
  const job = (await world.root.post(`${at}/statuses/${tip}`, { state: 'failed', ref: 'main' })).json
  const discussion = (await world.root.post(`${at}/repository/commits/${tip}/discussions`, { body: 'n' })).json
  const ids = {
    blob: project.repository.git('rev-parse', 'main:seed'),
    pipeline_id: job.pipeline_id,
    job_id: job.id,
    discussion_id: discussion.id,
    note_id: discussion.notes[0].id,
  }
  return { project, commit, tip, ids }
}

/** Reads change nothing, so all reads of a worker share a project. */
let forReads: Promise<Stock> | undefined
/** Refused writes change nothing either: one project for each endpoint. */
const forRefusals = new Map<Endpoint, Promise<Target>>()

class Target {
  readonly #world: World
  readonly #e: Endpoint
  readonly project: StoredProject
  readonly #valid: Params

  constructor(world: World, e: Endpoint, project: StoredProject, valid: Params) {
    this.#world = world
    this.#e = e
    this.project = project
    this.#valid = valid
  }

  /** A project that no other test writes to. */
  static async of(world: World, e: Endpoint): Promise<Target> {
    if (e.method === 'GET') forReads ??= stock(world)
    const { project, commit, tip, ids } = await (e.method === 'GET' ? forReads! : stock(world))
    if (e.method === 'PUT' && e.path.endsWith('/release'))
      await world.root.post(`/projects/${project.id}/repository/tags/v9/release`, { description: 'Old' })
    const { blob, ...others } = ids
    const valid = {
      ...others,
      sha: e.path.includes('/blobs/') ? blob : tip,
      file_path: e.method === 'POST' ? 'new' : 'seed',
      branch: branchFor(e),
      ref: 'main',
      refs: ['main', commit],
      from: commit,
      to: 'main',
      tag_name: e.method === 'POST' && !e.path.includes(':tag_name') ? 'v10' : 'v9',
      state: 'success',
      note: 'n',
      line: 1,
      description: 'd',
      commit_message: 'm',
      content: 'c',
      format: 'tar',
      body: 'b',
      submodule: 'module',
      commit_sha: '2'.repeat(40),
      ...(e.path.endsWith('/search') && { scope: 'blobs', search: 'seed' }),
    }
    return new Target(world, e, project, valid)
  }

  /** A project shared by tests of the endpoint, which refuses what they send. */
  static unchanged(world: World, e: Endpoint): Promise<Target> {
    const made = forRefusals.get(e) ?? Target.of(world, e)
    forRefusals.set(e, made)
    return made
  }

  get names(): string[] {
    return namesOf(this.#e)
  }

  get refs(): string {
    return this.project.repository.git('for-each-ref', '--format=%(refname) %(objectname)')
  }

  /** The call with other values for some parameters. */
  send(instead: Params): Promise<Answer> {
    const known = new Set(this.names)
    const params = Object.entries({ ...this.#valid, actions: this.#actions(), ...instead }).filter(
      ([name, value]) => (known.has(name) || name === 'pagination') && value !== undefined,
    )
    const rest = new Map(params)
    const path = this.#e.path.replace(/:(\w+)/g, (_, name: string) => {
      if (name === 'id') return String(this.project.id)
      const value = rest.get(name)
      rest.delete(name)
      const text = typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value)
      return encodeURIComponent(text.toWellFormed())
    })
    if (this.#e.method !== 'GET') return this.#world.root.send(this.#e.method, path, { json: Object.fromEntries(rest) })
    const query = [...rest].flatMap(([name, value]) =>
      Array.isArray(value)
        ? value.map((each) => `${name}[]=${encodeURIComponent(String(each))}`)
        : [`${name}=${encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : String(value))}`],
    )
    return this.#world.root.get(`${path}?${query.join('&')}`)
  }

  /** A parameter with a hostile text. */
  sendTo(sink: string, text: string): Promise<Answer> {
    if (sink === 'refs') return this.send({ refs: ['main', text] })
    if (sink === 'actions.file_path') return this.send({ actions: this.#actions({ file_path: text }) })
    if (sink === 'actions.previous_path')
      return this.send({ actions: this.#actions({ action: 'move', file_path: 'to', previous_path: text }) })
    if (sink === 'page_token') return this.send({ pagination: 'keyset', page_token: text })
    // A new branch starts at one thing only; an existing one has no start.
    const start = sink.startsWith('start_') && {
      branch: 'begun',
      ...(sink !== 'start_sha' && { start_branch: 'main' }),
    }
    return this.send({ ...start, [sink]: text })
  }

  #actions = (more: Params = {}) => [{ action: 'update', file_path: 'seed', content: 'changed', ...more }]
}

/** A call that finds nothing may answer with an empty list or an empty comparison. */
function isEmptyResult({ json }: Answer): boolean {
  if (Array.isArray(json)) return json.length === 0
  return json?.compare_same_ref === null && json.commits.length === 0
}

const sinksOf = (e: Endpoint, among: readonly string[]): string[] => {
  const names = namesOf(e)
  return among.filter((sink) => names.includes(sink.split('.')[0]!))
}

const cases = (among: readonly string[]) =>
  ofRepositories.flatMap((e) => sinksOf(e, among).map((sink) => [`${e.method} ${e.path} ${sink}`, e, sink] as const))

describe('hostile texts in repository parameters:', () => {
  for (const [texts, among] of [
    [hostileRefs, refSinks],
    [hostilePaths, pathSinks],
  ] as const)
    test.for(cases(among))('hostile texts in %s', async ([title, e, sink], { world }) => {
      const target = await (makesNames.includes(title) ? Target.of(world, e) : Target.unchanged(world, e))
      const before = target.refs
      const sendText = async (text: string) => {
        const answer = await target.sendTo(sink, text)
        const label = `${JSON.stringify(text.slice(0, 80))}: ${answer.text.slice(0, 200)}`
        expect(answer.status, label).toBeLessThan(500)
        if (makesNames.includes(title)) return
        if (e.method === 'GET' && answer.status === 200) expect(isEmptyResult(answer), label).toBe(true)
        else expect(answer.status, label).toBeGreaterThanOrEqual(400)
      }
      // Reads run concurrently.
      if (e.method === 'GET') await Promise.all(texts.map(sendText))
      else for (const text of texts) await sendText(text)
      if (!makesNames.includes(title)) expect(target.refs).toBe(before)
      if (e.method !== 'GET') expect(target.project.repository.git('fsck', '--strict', '--no-dangling')).toBe('')
    })
})

const calls = (reads: boolean) =>
  ofRepositories.filter(({ method }) => reads === (method === 'GET')).map((e) => [`${e.method} ${e.path}`, e] as const)

test.for([...calls(true), ...calls(false)])('%s succeeds without a hostile text', async ([, e], { world }) => {
  const { status, text } = await (await Target.of(world, e)).send({})
  // The commit exists but is not signed.
  if (e.path.endsWith('/signature')) expect(text).toContain('GPG Signature Not Found')
  else expect(status, text).toBeLessThan(300)
})

/** Values of types that no parameter expects. */
const shapes: readonly unknown[] = [
  [],
  [[]],
  ['x', null, { a: 1 }],
  {},
  { a: { b: [] } },
  null,
  '',
  ' ',
  0,
  -1,
  1e300,
  2 ** 53,
  true,
  'x'.repeat(20_000),
  '\u0000',
  '\ud800',
  '__proto__',
  "'; drop table projects",
]

describe('unexpected shapes of repository parameters cause no 500:', () => {
  test.for(calls(false))('unexpected shapes in %s', async ([, e], { world }) => {
    const target = await Target.of(world, e)
    const inside = ['action', 'file_path', 'previous_path', 'content', 'encoding', 'last_commit_id', 'execute_filemode']
    for (const shape of shapes) {
      const tried = target.names.map((name): Params => ({ [name]: shape }))
      if (target.names.includes('actions'))
        for (const name of inside)
          for (const action of ['update', 'move'])
            tried.push({
              actions: [{ action, file_path: 'seed', previous_path: 'more', content: 'c', [name]: shape }],
            })
      for (const params of tried) {
        const { status, text } = await target.send(params)
        expect(status, `${JSON.stringify(params).slice(0, 200)}: ${text.slice(0, 200)}`).toBeLessThan(500)
      }
    }
    expect(target.project.repository.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  const queries = [
    '',
    '=',
    '=%00',
    '=%FF',
    '=%ED%A0%80',
    '[]=',
    '[]=x&[]=y',
    '[a]=x',
    '[a][b][]=x',
    '[__proto__]=x',
    '=%',
    `=${'x'.repeat(3000)}`,
  ]
  test.for(calls(true))('hostile queries of %s', async ([, e], { world }) => {
    const target = await Target.of(world, e)
    const path = e.path.replace(':id', String(target.project.id)).replace(/:(\w+)/g, 'main')
    const asked = target.names.flatMap((name) => queries.map((suffix) => `${name}${suffix}`))
    await Promise.all(
      asked.map(async (query) => {
        const { status, text } = await world.root.get(`${path}?ref=main&from=main&to=main&${query}`)
        expect(status, `${query.slice(0, 40)}: ${text.slice(0, 200)}`).toBeLessThan(500)
      }),
    )
  })
})
