import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { FormData } from 'undici'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import type { Service } from '../service.ts'
import { git } from '../world.ts'
import type { Contents } from './contents.ts'

/** A write that the service has acknowledged. */
type Write = {
  readonly what: string
  /** By the clock of the machine. */
  readonly beganAt: number
  readonly acknowledgedAt: number
  /** Whether a restored copy shows it. */
  readonly isIn: (copy: Contents) => boolean
  /** Whether it removed something that may never have been there. */
  readonly removes: boolean
}

const token = 'root-token-for-tests'

/** Changes a service in many ways at once, and remembers what was acknowledged when. */
export class Load {
  readonly #service: Service
  readonly #writes: Write[] = []
  readonly #running: Promise<void>[] = []
  readonly uploads: string[] = []
  #goes = true
  #count = 0

  constructor(service: Service) {
    this.#service = service
  }

  get count(): number {
    return this.#writes.length
  }

  async begin(): Promise<void> {
    const { root } = this.#service
    const { json } = await root.post('/projects', {
      path: 'busy',
      initialize_with_readme: true,
      default_branch: 'main',
    })
    const id = json.id as number
    this.#running.push(this.#main(), this.#branches(), this.#records(id), this.#merges(id), this.#deletions(id))
  }

  async end(): Promise<void> {
    this.#goes = false
    await Promise.all(this.#running)
  }

  /** What a copy of this moment lacks, and what it has too much. */
  faultsOf(moment: Date, copy: Contents): string[] {
    const at = moment.getTime()
    return this.#writes.flatMap(({ what, beganAt, acknowledgedAt, isIn, removes }) => {
      const there = isIn(copy)
      if (acknowledgedAt < at && !there)
        return [`${what} was acknowledged ${at - acknowledgedAt} ms before, and is missing`]
      // The moment is that of the snapshot, or a little before it.
      if (beganAt > at + 2_000 && there && !removes) return [`${what} began ${beganAt - at} ms later, and is there`]
      return []
    })
  }

  async #write(what: string, send: () => Promise<boolean>, isIn: Write['isIn']): Promise<boolean> {
    const beganAt = Date.now()
    const done = await send().catch(() => false)
    const removes = what.startsWith('the deletion')
    if (done) this.#writes.push({ what, beganAt, acknowledgedAt: Date.now(), isIn, removes })
    else await pause(20)
    return done
  }

  async #clone(project: string): Promise<string> {
    const folder = await temporaryFolder()
    await git(folder, 'clone', '-q', this.#remote(project), '.')
    return folder
  }

  #remote = (project: string): string =>
    `${this.#service.origin.replace('://', `://root:${token}@`)}/root/${project}.git`

  async #commit(folder: string): Promise<string> {
    const name = `file-${++this.#count}`
    await writeFile(join(folder, name), randomBytes(200 + (this.#count % 7) * 1000).toString('hex'))
    await git(folder, 'add', '.')
    await git(folder, 'commit', '-qm', name)
    return (await git(folder, 'rev-parse', 'HEAD')).trim()
  }

  /** One branch that moves all the time. A copy has one of its commits: not older than what was acknowledged. */
  async #main(): Promise<void> {
    const folder = await this.#clone('busy')
    const commits: string[] = []
    while (this.#goes) {
      const oid = await this.#commit(folder)
      commits.push(oid)
      const number = commits.length
      await this.#write(
        `the push of commit ${number}`,
        () => done(git(folder, 'push', '-q', 'origin', 'HEAD:refs/heads/moving')),
        ({ refs }) => commits.indexOf(refs.get('busy refs/heads/moving') ?? '') + 1 >= number,
      )
    }
  }

  /** Branches and tags that appear and disappear, also in new repositories. */
  async #branches(): Promise<void> {
    const folder = await this.#clone('busy')
    const { root } = this.#service
    for (let n = 1; this.#goes; n++) {
      const oid = await this.#commit(folder)
      const [branch, tag] = [`refs/heads/b-${n}`, `refs/tags/t-${n}`]
      await this.#write(
        `the push of ${branch}`,
        () => done(git(folder, 'push', '-q', 'origin', `HEAD:${branch}`, `HEAD:${tag}`)),
        // It is deleted later.
        ({ refs }) => refs.get(`busy ${tag}`) === oid,
      )
      if (n % 2 === 0)
        await this.#write(
          `the deletion of ${branch}`,
          () => done(git(folder, 'push', '-q', 'origin', `:${branch}`)),
          ({ refs }) => refs.has(`busy ${tag}`) && !refs.has(`busy ${branch}`),
        )
      if (n % 5 !== 0) continue
      const path = `new-${n}`
      await this.#write(
        `the project ${path}`,
        async () => (await root.post('/projects', { path })).status === 201,
        ({ projects }) => projects.has(path),
      )
      await this.#write(
        `the first push to ${path}`,
        () => done(git(folder, 'push', '-q', this.#remote(path), 'HEAD:refs/heads/main')),
        ({ refs }) => refs.get(`${path} refs/heads/main`) === oid,
      )
    }
  }

  /** Rows, files and pages of the wiki. */
  async #records(id: number): Promise<void> {
    const { root } = this.#service
    for (let n = 1; this.#goes; n++) {
      const title = `issue ${n}`
      await this.#write(
        title,
        async () => (await root.post(`/projects/${id}/issues`, { title })).status === 201,
        ({ issues }) => issues.has(title),
      )
      if (n % 3 === 0) {
        const form = new FormData()
        form.set('file', new Blob([randomBytes(3_000)]), `file-${n}.bin`)
        let url = ''
        await this.#write(
          `the upload ${n}`,
          async () => {
            const { status, json } = await root.send('POST', `/projects/${id}/uploads`, { body: form })
            if (status === 201) this.uploads.push((url = json.full_path))
            return status === 201
          },
          ({ uploads }) => uploads.has(url),
        )
      }
      if (n % 4 === 0)
        await this.#write(
          `the page ${n}`,
          async () => (await root.post(`/projects/${id}/wikis`, { title: `page-${n}`, content: title })).status === 201,
          ({ pages }) => pages.has(`page-${n}`),
        )
    }
  }

  /** Repositories that disappear, and git's housekeeping, which packs and deletes. */
  async #deletions(id: number): Promise<void> {
    const { root } = this.#service
    const folder = await this.#clone('busy')
    for (let n = 1; this.#goes; n++) {
      const path = `doomed-${n}`
      const { json } = await root.post('/projects', { path }).catch(() => ({ json: undefined }))
      await this.#commit(folder)
      await done(git(folder, 'push', '-q', this.#remote(path), 'HEAD:refs/heads/main'))
      await root.post(`/projects/${id}/housekeeping`).catch(() => {})
      await pause(100)
      await this.#write(
        `the deletion of ${path}`,
        async () => {
          await root.delete(`/projects/${json.id}`)
          const full_path = encodeURIComponent((await root.get(`/projects/${json.id}`)).json?.path_with_namespace ?? '')
          const { status } = await root.delete(`/projects/${json.id}?permanently_remove=true&full_path=${full_path}`)
          return status === 202 || status === 204
        },
        ({ projects }) => !projects.has(path),
      )
    }
  }

  async #merges(id: number): Promise<void> {
    const { root } = this.#service
    for (let n = 1; this.#goes; n++) {
      const branch = `merged-${n}`
      const actions = [{ action: 'create', file_path: `${branch}.txt`, content: branch }]
      const commit = { branch, start_branch: 'main', commit_message: branch, actions }
      await this.#write(
        `the commit to ${branch}`,
        async () => (await root.post(`/projects/${id}/repository/commits`, commit)).status === 201,
        ({ refs, requests }) => refs.has(`busy refs/heads/${branch}`) || requests.has(branch),
      )
      const asked = { source_branch: branch, target_branch: 'main', title: branch }
      let iid = 0
      await this.#write(
        `the merge request of ${branch}`,
        async () => {
          const { status, json } = await root.post(`/projects/${id}/merge_requests`, asked)
          iid = json?.iid
          return status === 201
        },
        ({ requests, refs }) => requests.has(branch) && refs.has(`busy refs/merge-requests/${iid}/head`),
      )
      if (iid > 0)
        await this.#write(
          `the merge of ${branch}`,
          async () => (await root.put(`/projects/${id}/merge_requests/${iid}/merge`)).status === 200,
          ({ requests }) => requests.get(branch) === 'merged',
        )
    }
  }
}

const done = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )
