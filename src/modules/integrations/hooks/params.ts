import type { TProperties, TUnsafe } from 'typebox'
import { Filled, Flag as FlagParam, Id, Nullable, Optional, Params, Text } from '../../../api/params/types.ts'
import { flagDescription } from './entity.ts'
import type { HookInput } from './service.ts'
import { type Flag, flagsOf, type HookKind } from './triggers.ts'

export const hookId = Id({ description: 'ID of the hook' })

type FlagParams = { readonly [F in Flag]?: TUnsafe<boolean> }

const flagParams = (kind: HookKind): FlagParams =>
  Object.fromEntries(flagsOf[kind].map((flag) => [flag, Optional(FlagParam({ description: flagDescription(flag) }))]))

/** Compat: the API documents name the flag of wiki pages in two ways. */
const wikiAlias = { wiki_events: Optional(FlagParam({ description: 'Same as `wiki_page_events`' })) }

/** The parameters of a hook, for creation and for changes; with those of the path. */
export const hookParams = <P extends TProperties>(kind: HookKind, path: P) =>
  Params({
    ...path,
    url: Filled({ description: 'URL that receives the events, http or https; may contain credentials' }),
    token: Optional(
      Nullable(
        Text({
          description:
            'Secret that every request contains, and the key of its signature; it is never returned. An empty text removes it, and so does a URL on another host if no token is given with it',
        }),
      ),
    ),
    push_events_branch_filter: Optional(
      Nullable(Text({ description: 'Only pushes to branches that match this pattern, in which `*` matches any text' })),
    ),
    enable_ssl_verification: Optional(
      FlagParam({ description: 'Verify the certificate of the receiver. Default true' }),
    ),
    ...flagParams(kind),
    ...(kind === 'system' ? {} : wikiAlias),
  })

/** The hook that a request describes. */
export const hookInput = ({ wiki_events, ...input }: HookInput & { readonly wiki_events?: boolean }): HookInput => ({
  ...input,
  ...(wiki_events !== undefined && input.wiki_page_events === undefined && { wiki_page_events: wiki_events }),
})
