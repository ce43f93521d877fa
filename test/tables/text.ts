import type { World } from '../world.ts'
import { change } from './statements.ts'

export const changeSnippet = (world: World, id: number, values: { readonly author_id?: number }) =>
  change(world, 'snippets', { id }, values)
