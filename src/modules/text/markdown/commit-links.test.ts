import { hash } from 'node:crypto'
import { afterEach, describe, expect, vi } from 'vitest'
import { type Client, git, temporaryFolder, test, unique, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { gitIn } from '../../../git/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

afterEach(() => void vi.useRealTimers())

/** Lets the last change of a repository lie long enough in the past for answers about it to be cached. */
const settle = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })

/** The commits that the description of a merge request shows as links to a reader. */
async function linked(who: Client, at: string): Promise<string[]> {
  const { status, text, json } = await who.get(`${at}?render_html=true`)
  expect(status, text).toBe(200)
  const links = json.description_html.matchAll(/href="[^"]*\/-\/commit\/([0-9a-f]+)"/g)
  return Array.from(links, ([, oid]) => oid)
}

/** Two commits on top of another whose ids begin with the same seven digits. */
function twins(tree: string, parent: string): { prefix: string; contents: [string, string]; ids: [Oid, Oid] } {
  const made = new Map<string, { content: string; id: Oid }>()
  for (let n = 0; ; n++) {
    const person = 'Ann <ann@example.com> 1700000000 +0000'
    const content = `tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\nCommit ${n}\n`
    const id = hash('sha1', `commit ${content.length}\0${content}`, 'hex') as Oid
    const prefix = id.slice(0, 7)
    const twin = made.get(prefix)
    if (twin) return { prefix, contents: [twin.content, content], ids: [twin.id, id] }
    made.set(prefix, { content, id })
  }
}

/** A project with a merge request that names hashes, and a clone of it. */
async function withClone(world: World, describe: (head: Oid, work: string) => string) {
  const folder = await temporaryFolder()
  const project = await storedProject(world)
  const head = project.repository.commit({ a: 'a\n' })
  const remote = world.remote({ url: `${world.origin}/${project.full_path}.git` } as never, world.root)
  await git(folder.path, 'clone', '-q', remote, 'work')
  const work = `${folder.path}/work`
  const { at } = await openMergeRequest(world, { project, description: describe(head, work) })
  const push = (...refs: string[]) => git(work, 'push', '-q', remote, ...refs)
  return { ...project, work, at, push, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

const store = (work: string, content: string) => gitIn(work, ['hash-object', '-t', 'commit', '-w', '--stdin'], content)

describe('a hash in a description', () => {
  test('becomes a link with the push of its commit, which may be packed, and stays one after housekeeping', async ({
    world,
  }) => {
    let oid = ''
    await using made = await withClone(world, (_, work) => {
      oid = gitIn(work, ['commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', unique('new')])
      return `Fixed by ${oid.slice(0, 8)}, see ${oid}.`
    })
    const { at, repository, push } = made
    settle()
    expect(await linked(world.root, at)).toEqual([])
    expect(await linked(world.root, at)).toEqual([])
    await push(`${oid}:refs/heads/new`)
    expect(await linked(world.root, at)).toEqual([oid, oid])
    repository.git('repack', '-q', '-a', '-d')
    expect(await linked(world.root, at)).toEqual([oid, oid])
  })

  test('becomes a link with the commit that a call makes', async ({ world }) => {
    settle()
    const commit = async (id: number) => {
      const file = { branch: 'main', commit_message: 'Add', content: 'x' }
      const made = await world.root.post(`/projects/${id}/repository/files/a`, file)
      expect(made.status, made.text).toBe(201)
      return (await world.root.get(`/projects/${id}/repository/commits/main`)).json.id as string
    }
    // The clock stands still, so the same call makes the same commit in each project.
    const oid = await commit((await storedProject(world)).id)
    const project = await storedProject(world)
    const other = await openMergeRequest(world, { description: `Like ${project.full_path}@${oid.slice(0, 10)}` })
    expect(await linked(world.root, other.at)).toEqual([])
    expect(await commit(project.id)).toBe(oid)
    expect(await linked(world.root, other.at)).toEqual([oid])
  })

  test('is no link any more when a second commit begins with it', async ({ world }) => {
    let pair: ReturnType<typeof twins> | undefined
    await using made = await withClone(world, (head, work) => {
      pair = twins(gitIn(work, ['rev-parse', 'HEAD^{tree}']), head)
      return `${pair.prefix} and ${pair.ids[0]}`
    })
    const { at, work, push } = made
    const { contents, ids } = pair!
    settle()
    expect(await linked(world.root, at)).toEqual([])
    for (const [index, content] of contents.entries()) {
      expect(store(work, content)).toBe(ids[index])
      await push(`${ids[index]}:refs/heads/twin-${index}`)
      expect(await linked(world.root, at)).toEqual(index === 0 ? [ids[0], ids[0]] : [ids[0]])
    }
  })

  test('is no link any more when its commit was pruned', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const gone = project.repository.commit({ b: 'b\n' }, { branch: 'gone', parents: [] })
    const { at } = await openMergeRequest(world, { project, description: `${gone.slice(0, 8)} ${gone}` })
    settle()
    expect(await linked(world.root, at)).toEqual([gone, gone])
    project.repository.git('update-ref', '-d', 'refs/heads/gone')
    project.repository.git('prune', '--expire=now')
    expect(await linked(world.root, at)).toEqual([])
  })

  test('leads to its commit although a branch has its name', async ({ world }) => {
    const project = await storedProject(world)
    const oid = project.repository.commit({ a: 'a\n' })
    const { at } = await openMergeRequest(world, { project, description: oid.slice(0, 8) })
    project.repository.git('update-ref', `refs/heads/${oid.slice(0, 8)}`, project.repository.commit({ a: 'b\n' }))
    expect(await linked(world.root, at)).toEqual([oid])
  })

  test('is a link for those only who may read the code, also after others have read the text', async ({ world }) => {
    const [guest, reporter, stranger] = await Promise.all([world.user(), world.user(), world.user()])
    const { project, head } = await openMergeRequest(world, {
      visibility: 'private',
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ],
    })
    const { at } = await openMergeRequest(world, { description: `${project.full_path}@${head.slice(0, 8)}` })
    settle()
    for (const _ of [1, 2]) {
      expect(await linked(reporter, at)).toEqual([head])
      expect(await linked(guest, at)).toEqual([])
      expect(await linked(stranger, at)).toEqual([])
    }
    const none = ['repository', 'merge_requests', 'builds'].map((feature) => [`${feature}_access_level`, 'disabled'])
    expect((await world.root.put(`/projects/${project.id}`, Object.fromEntries(none))).status).toBe(200)
    expect(await linked(reporter, at)).toEqual([])
  })
})
