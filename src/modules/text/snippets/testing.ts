import type { Client, World } from '../../../../test/world.ts'

export type CreatedSnippet = {
  readonly id: number
  /** Its path in the API. */
  readonly at: string
  /** The response to its creation. */
  readonly record: any
}

/** Creates a snippet: of a project if one is given. Other attributes are passed to the call. */
export async function createSnippet(
  world: World,
  {
    project,
    author = world.root,
    ...attributes
  }: { project?: { readonly id: number }; author?: Client; [attribute: string]: unknown } = {},
): Promise<CreatedSnippet> {
  const path = project ? `/projects/${project.id}/snippets` : '/snippets'
  const only = 'files' in attributes ? {} : { file_name: 'a.rb', content: 'puts 1\n' }
  const made = await author.post(path, { title: 'A snippet', visibility: 'private', ...only, ...attributes })
  if (made.status !== 201) throw new Error(`expected 201, got ${made.status}: ${made.text}`)
  return { id: made.json.id, at: `${path}/${made.json.id}`, record: made.json }
}
