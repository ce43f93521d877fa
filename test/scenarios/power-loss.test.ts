import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FormData } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort, Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { Disk } from '../power-loss/disk.ts'
import { noRecorder, Recording, recorder } from '../power-loss/recording.ts'
import { eventually } from '../waiting.ts'
import { Client, git } from '../world.ts'

const bin = fileURLToPath(new URL('../../bin/stithy.js', import.meta.url))
const missing = noRecorder()

/** What an acknowledged request guarantees to clients. Everything else can be rebuilt. */
function matters(path: string): boolean {
  if (/^(?:secrets\.keys|root-credentials|installation|ssh\/host_(?:ed25519|ecdsa))$/.test(path)) return true
  if (/^(?:blobs|uploads)\/sha256\//.test(path)) return true
  if (!path.startsWith('repositories/') || /\/tmp_|\.(?:lock|import|new|removed)(?:\/|$)/.test(path)) return false
  return /\.git(?:\/(?:HEAD|config|stithy-project|packed-refs|refs(?:\/.*)?|objects(?:\/[0-9a-f]{2}\/.*|\/pack\/.*\.(?:pack|idx))?))?$/.test(
    path,
  )
}

/** Objects disappear from here when git repacks them: only names of refs matter. */
const isMissed = (risk: string): boolean => !risk.startsWith('removal of ') || /\/(?:refs\/.*|packed-refs)$/.test(risk)

class RecordedService {
  readonly client: Client
  readonly #dataDir: string
  readonly #origin: string
  readonly #file: string
  readonly #disk: Disk
  readonly #recording = new Recording()
  #read = 0
  #atAnswer: string[] = []
  /** Moments at which a power loss was simulated. */
  states = 0
  /** What a power loss in the middle of a request would have damaged. */
  readonly damage = new Set<string>()

  private constructor(dataDir: string, origin: string, file: string) {
    this.#disk = new Disk(dataDir)
    this.#dataDir = dataDir
    this.#origin = origin
    this.#file = file
    this.client = new Client(origin, { id: 1, username: 'root', token: 'root-token-for-tests' })
  }

  static async start(): Promise<RecordedService> {
    const [dataDir, log, port] = [await temporaryFolder(), await temporaryFolder(), await freePort()]
    const file = join(log, 'recording')
    const [program, ...words] = recorder(file) as [string, ...string[]]
    const launched = new Launched(
      [...words.slice(1), process.execPath, bin, 'serve'],
      {
        STITHY_DATA_DIR: dataDir,
        STITHY_HTTP_PORT: String(port),
        STITHY_ROOT_TOKEN: 'root-token-for-tests',
        STITHY_LOG_LEVEL: 'warn',
        STITHY_PROCESSES: '1',
      },
      { node: program, file: words[0]! },
    )
    // The recorder does not end the processes that it records. Without it, their system calls fail, and PostgreSQL never ends.
    onTestFinished(async () => {
      for (const pid of launched.named('stithy')) process.kill(pid, 'SIGKILL')
      await launched.exit
    })
    await launched.ready()
    return new RecordedService(dataDir, `http://127.0.0.1:${port}`, file)
  }

  /** The URL of a project with push access. */
  remote = (path: string) => `${this.#origin.replace('//', '//root:root-token-for-tests@')}/${path}.git`

  /** Whether all steps of housekeeping are over: the bitmap belongs to the pack, and the graph is written last. */
  wasHousekept(repository: string): boolean {
    const objects = join(this.#dataDir, 'repositories/default', repository, 'objects')
    const bitmap = readdirSync(join(objects, 'pack')).find((name) => name.endsWith('.bitmap'))
    if (bitmap === undefined) return false
    const graph = statSync(join(objects, 'info/commit-graphs/commit-graph-chain'), { throwIfNoEntry: false })
    return (graph?.mtimeMs ?? 0) > statSync(join(objects, 'pack', bitmap)).mtimeMs
  }

  /** Runs an acknowledged change, and returns what a power loss right after it would have destroyed. */
  async after(work: () => Promise<unknown>): Promise<string[]> {
    await work()
    // The recorder writes the line of a response when it has been sent, which on a busy machine is after the client has read it. The process cannot
    // answer another request before. A 404 acknowledges nothing, and is not an answer in the recording.
    expect((await this.client.get('/nothing')).status).toBe(404)
    const text = readFileSync(this.#file, 'latin1').slice(this.#read)
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    this.#read += whole.length
    for (const event of this.#recording.read(whole)) {
      if (event.kind === 'answer') this.#atAnswer = this.#disk.atRisk(matters).filter(isMissed)
      else {
        this.#disk.apply(event)
        const path = event.kind === 'rename' || event.kind === 'link' ? event.to : event.path
        if (/\/(?:repositories|blobs)\//.test(path)) this.#check(path, event.kind)
      }
    }
    return this.#atAnswer
  }

  /** Everything that has its final name is complete, and a ref names only durable objects. */
  #check(path: string, kind: string): void {
    this.states++
    if (kind !== 'rename' && kind !== 'link' && kind !== 'write') return
    const movesRef = /\/refs\/.*[^k]$|\/packed-refs$/.test(path) && !path.endsWith('.lock')
    for (const risk of this.#disk.atRisk(matters))
      if (risk.startsWith('content of ') || (movesRef && risk.startsWith('name of ') && /\/objects\//.test(risk)))
        this.damage.add(`${risk}, at ${kind} of ${basename(path)}`)
  }
}

describe.skipIf(missing)(`a power loss${missing ? ` (skipped: ${missing})` : ''}`, () => {
  test('a power loss destroys nothing that was acknowledged', async () => {
    const service = await RecordedService.start()
    const { client } = service
    const work = await temporaryFolder()
    const lost: Record<string, string[]> = {}
    const step = async (name: string, work: () => Promise<unknown>) => {
      const risks = await service.after(work)
      if (risks.length > 0) lost[name] = risks
    }
    const done = (answer: { status: number; text: string }) => {
      if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text}`)
      return answer
    }
    const push = (...refs: string[]) => git(work, 'push', '-q', service.remote('root/first'), ...refs)
    const commit = (branch: string, path: string, more: object = {}) =>
      client
        .post('/projects/root%2Ffirst/repository/commits', {
          branch,
          commit_message: path,
          actions: [{ action: 'create', file_path: path, content: path }],
          ...more,
        })
        .then(done)

    // New packs contain objects that exist elsewhere still: they must be durable when housekeeping ends, not before.
    await step('the first start', () => client.put('/application/settings', { housekeeping_enabled: false }).then(done))
    await git(work, 'init', '-q', '-b', 'main')
    await writeFile(join(work, 'file'), 'content\n')
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'First')
    await step('a push that creates the project', () => push('main'))
    await step('a push of many refs', () =>
      push(...Array.from({ length: 30 }, (_, n) => `main:refs/heads/many/of/${n % 3}/${n}`), 'main:refs/tags/v1'),
    )
    await git(work, 'commit', '-q', '--allow-empty', '-m', 'Second')
    await step('a push of one commit', () => push('main'))
    for (let n = 0; n < 120; n++) await writeFile(join(work, `file-${n}`), randomBytes(8))
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Many files')
    await step('a push of a pack', () => push('main'))
    await step('a push that deletes', () => push(':refs/heads/many/of/0/0', ':refs/heads/many/of/1/1'))
    await step('a commit through the API', () => commit('main', 'by-api'))
    await step('a commit to a new branch', () => commit('feature/one', 'new', { start_branch: 'main' }))
    await step('a branch of its own folder', () =>
      client.post('/projects/root%2Ffirst/repository/branches?branch=a/b/c&ref=main').then(done),
    )
    await step('a deleted branch', () =>
      client.delete('/projects/root%2Ffirst/repository/branches/a%2Fb%2Fc').then(done),
    )
    await step('a tag', () =>
      client.post('/projects/root%2Ffirst/repository/tags', { tag_name: 'v2', ref: 'main', message: 'Two' }).then(done),
    )
    await step('a merge', async () => {
      const made = await client.post('/projects/root%2Ffirst/merge_requests', {
        source_branch: 'feature/one',
        target_branch: 'main',
        title: 'One',
      })
      done(made)
      done(await client.put(`/projects/root%2Ffirst/merge_requests/${made.json.iid}/merge`))
      // A job removes the source branch. Its event is recorded when the removal is durable.
      const isRemoved = async () => {
        const { json } = await client.get('/projects/root%2Ffirst/events?action=pushed')
        return json.some(({ push_data: { action, ref } }: Pushed) => action === 'removed' && ref === 'feature/one')
      }
      await eventually(async () => expect(await isRemoved()).toBe(true), 200)
    })
    await step('an avatar', () => {
      const body = new FormData()
      body.set('avatar', new Blob([png as never]), 'face.png')
      return client.send('PUT', '/user/avatar', { body }).then(done)
    })
    await step('an upload', () => {
      const body = new FormData()
      body.set('file', new Blob(['text']), 'notes.txt')
      return client.send('POST', '/projects/root%2Ffirst/uploads', { body }).then(done)
    })
    await step('an LFS file', async () => {
      const content = randomBytes(200)
      const oid = hash('sha256', content, 'hex')
      const answer = await client.send('POST', '//root/first.git/info/lfs/objects/batch', {
        headers: {
          authorization: `Basic ${Buffer.from('root:root-token-for-tests').toString('base64')}`,
          'content-type': 'application/vnd.git-lfs+json',
          accept: 'application/vnd.git-lfs+json',
        },
        body: JSON.stringify({ operation: 'upload', transfers: ['basic'], objects: [{ oid, size: content.length }] }),
      })
      const { href, header } = JSON.parse(done(answer).text).objects[0].actions.upload
      done(await client.send('PUT', `/${new URL(href).pathname}`, { headers: header, body: content }))
    })
    const imported = async (path: string) => {
      await eventually(
        async () => expect((await client.get(`/projects/root%2F${path}`)).json.import_status).toBe('finished'),
        200,
      )
    }
    await step('a fork', async () => {
      done(await client.post('/projects/root%2Ffirst/fork', { path: 'forked', name: 'forked' }))
      await imported('forked')
    })
    await step('an import', async () => {
      const { http_url_to_repo } = (await client.get('/projects/root%2Ffirst')).json
      const url = http_url_to_repo.replace('://', '://root:root-token-for-tests@')
      done(await client.post('/projects', { path: 'imported', import_url: url }))
      await imported('imported')
    })
    await step('housekeeping', async () => {
      done(await client.post('/projects/root%2Ffirst/housekeeping'))
      await eventually(() => expect(service.wasHousekept('001/1.git')).toBe(true), 200)
      await client.get('/user')
    })
    await step('a deleted branch that was packed', () =>
      client.delete('/projects/root%2Fimported/repository/branches/many%2Fof%2F2%2F2').then(done),
    )
    expect(service.states).toBeGreaterThan(500)
    expect(lost).toEqual({})
    expect([...service.damage]).toEqual([])
  })
})

type Pushed = { readonly push_data: { readonly action: string; readonly ref: string } }

/** The smallest PNG: one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
