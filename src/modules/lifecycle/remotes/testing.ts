import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { contextFor } from '../../../../test/contexts.ts'
import { type Answer, git, type TestProject, unique, type World } from '../../../../test/world.ts'
import { projectRepositoryDir } from '../../projects/repositories/location.ts'

/** The record of a call that must succeed. */
export async function done(answer: Promise<Answer>): Promise<any> {
  const { status, text, json } = await answer
  if (status >= 300) throw new Error(`expected success, got ${status}: ${text}`)
  return json
}

/** Folder of a project's repository. */
export const repositoryOf = async (world: World, id: number): Promise<string> =>
  projectRepositoryDir(await contextFor(world, null), { id, repository_storage: 'default' })

/** Commits a new file to a branch of a project, which a first commit creates. Returns the commit. */
export async function commitTo(world: World, { id }: { id: number }, branch = 'main', start?: string): Promise<string> {
  const commit = {
    branch,
    ...(start !== undefined && { start_branch: start }),
    commit_message: 'x',
    actions: [{ action: 'create', file_path: unique('file'), content: 'x' }],
  }
  return (await done(world.root.post(`/projects/${id}/repository/commits`, commit))).id
}

/** Branches and tags of a project: name → object. None without a repository. */
export async function refsOf(world: World, { id }: { id: number }): Promise<Record<string, string>> {
  const dir = await repositoryOf(world, id)
  if (!existsSync(dir)) return {}
  const text = await git(dir, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags')
  return Object.fromEntries(text.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')])))
}

/** A project of this instance, whose URL is always allowed: a commit on `main`, a branch `zebra` and a tag `v1`. */
export async function sourceOf(world: World): Promise<TestProject> {
  const source = await world.project()
  await commitTo(world, source)
  for (const [what, name] of [
    ['branches?branch', 'zebra'],
    ['tags?tag_name', 'v1'],
  ])
    await done(world.root.post(`/projects/${source.id}/repository/${what}=${name}&ref=main`))
  return source
}

/** An HTTP server on this machine until it is disposed. */
export async function serve(listener: RequestListener): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A server that passes requests of git on to the world, after `before` has seen each with its body. */
export const proxyTo = (
  world: World,
  before: (request: { method: string; url: string; body: Buffer }) => Promise<void>,
): ReturnType<typeof serve> =>
  serve(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    await before({ method: req.method!, url: req.url!, body })
    const names = ['authorization', 'content-type', 'git-protocol', 'content-encoding']
    const answer = await fetch(world.origin + req.url!, {
      method: req.method!,
      headers: Object.fromEntries(
        names.flatMap((name) => (req.headers[name] ? [[name, String(req.headers[name])]] : [])),
      ),
      ...(req.method === 'POST' && { body }),
    })
    res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    res.end(Buffer.from(await answer.arrayBuffer()))
  })

/** The URL of a project by such a server. */
export const remoteBy = (world: World, { origin }: { origin: string }, project: TestProject): string =>
  world.remote(project, world.root).replace(/@[^/]+/, `@${origin.slice('http://'.length)}`)
