import type { Service } from '../service.ts'
import { git } from '../world.ts'

/** What a service shows. */
export type Contents = {
  readonly projects: ReadonlySet<string>
  /** Targets of `project ref`. */
  readonly refs: ReadonlyMap<string, string>
  readonly issues: ReadonlySet<string>
  /** State by title. */
  readonly requests: ReadonlyMap<string, string>
  readonly pages: ReadonlySet<string>
  /** Those of the asked files that can be downloaded. */
  readonly uploads: ReadonlySet<string>
}

async function all({ root }: Service, path: string): Promise<any[]> {
  const found: any[] = []
  for (let page = 1; ; page++) {
    const { json } = await root.get(`${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`)
    found.push(...json)
    if (json.length < 100) return found
  }
}

/** Reads all of a service: projects of root, refs of their repositories, records of the project `busy`. */
export async function contentsOf(service: Service, uploads: readonly string[]): Promise<Contents> {
  const projects = await all(service, '/projects')
  const refs = new Map<string, string>()
  for (const { path, empty_repo } of projects) {
    if (empty_repo) continue
    const remote = `${service.origin.replace('://', '://root:root-token-for-tests@')}/root/${path}.git`
    for (const line of (await git('/', 'ls-remote', remote)).split('\n')) {
      const [oid, name] = line.split('\t')
      if (name !== undefined) refs.set(`${path} ${name}`, oid!)
    }
  }
  const id = projects.find(({ path }) => path === 'busy').id
  const issues = await all(service, `/projects/${id}/issues?scope=all`)
  const requests = await all(service, `/projects/${id}/merge_requests?scope=all`)
  const pages = await all(service, `/projects/${id}/wikis`)
  const there = new Set<string>()
  for (const path of uploads) if ((await service.root.get(`/${path}`)).status === 200) there.add(path)
  return {
    projects: new Set(projects.map(({ path }) => path)),
    refs,
    issues: new Set(issues.map(({ title }) => title)),
    requests: new Map(requests.map(({ title, state }) => [title, state])),
    pages: new Set(pages.map(({ slug }: { slug: string }) => slug)),
    uploads: there,
  }
}
