/** One segment of the name of a repository. Source: OCI distribution specification, "Pulling manifests". */
const segment = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const repositoryName = new RegExp(`^${segment}(?:/${segment})*$`)
export const maxTagLength = 128
export const tagName = new RegExp(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,${maxTagLength - 1}}$`)

/** Clients refuse longer names with the host before them. */
export const maxNameLength = 255
const maxSegments = 20
/** Segments that may follow the path of the project. */
const maxSegmentsBelow = 2
/** What may follow the path of the project: nothing, or that many segments. */
export const nameBelowProject = new RegExp(`^(?:${segment}(?:/${segment}){0,${maxSegmentsBelow - 1}})?$`)

export const isTagName = (text: string): boolean => tagName.test(text)

/** Whether this is the name of a repository: in lower case, with the path of its project, which has a namespace. */
export function isRepositoryName(text: string): boolean {
  if (text.length > maxNameLength || !repositoryName.test(text)) return false
  const segments = text.split('/').length
  return segments >= 2 && segments < maxSegments
}

/** The paths that the project of a repository may have, the longest first: at most two segments follow it. */
export function projectPathsOf(name: string): string[] {
  const segments = name.split('/')
  const shortest = Math.max(2, segments.length - maxSegmentsBelow)
  const paths: string[] = []
  for (let length = segments.length; length >= shortest; length--) paths.push(segments.slice(0, length).join('/'))
  return paths
}

/** What follows the path of the project: '' for the path itself. */
export const nameBelow = (repository: string, projectPath: string): string => repository.slice(projectPath.length + 1)

/** The name of a repository for clients. */
export const pathOf = (projectPath: string, name: string): string =>
  name === '' ? projectPath.toLowerCase() : `${projectPath.toLowerCase()}/${name}`
