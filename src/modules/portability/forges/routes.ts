import { endpoint } from '../../../api/endpoint.ts'
import { Filled, Flag, Id, OneOf, Optional, Params } from '../../../api/params/types.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { ForgeImport } from './entity.ts'
import { isFullName } from './records.ts'
import { cancelForgeImport, startForgeImport } from './service.ts'

const stage = (description: string) => Flag({ default: false, description })

const params = {
  personal_access_token: Filled({
    description: 'Token of the forge; encrypted, and forgotten with the end of the import',
  }),
  target_namespace: Filled({ description: 'Full path of the namespace that gets the project' }),
  new_name: Optional(Filled({ description: 'Name and path of the project; default: the name of the repository' })),
  optional_stages: Optional(
    Params(
      {
        single_endpoint_notes_import: stage(
          'Read the comments of each issue and pull request alone: slower, and complete for large repositories',
        ),
        single_endpoint_issue_events_import: stage('Refused if true: events are not imported'),
        attachments_import: stage('Refused if true: attachments stay where they are'),
        collaborators_import: stage('Refused if true: an import gives no rights to others'),
      },
      { description: 'What is imported beyond the default' },
    ),
  ),
  timeout_strategy: OneOf(['optimistic', 'pessimistic'], {
    default: 'pessimistic',
    description: '`optimistic`: a list that the forge cannot give is left out; `pessimistic`: the import fails',
  }),
} as const

const effects =
  'Returns at once; the project is filled when `import_status` is `finished`. Imports code, wiki, issues, pull requests, comments, reviews, labels, milestones and releases. Everything is stored together, numbers stay the same, and no mail, hook or todo follows, except a report to the importer. An import that is interrupted, or that the forge asks to wait, goes on where it was.'

const cancelParams = Params({ project_id: Id({ description: 'ID of the project' }) })

export const forgeRoutes = [
  endpoint({
    method: 'POST',
    path: '/import/github',
    summary: 'Start an import from GitHub',
    description: effects,
    subject: instance,
    allow: 'use',
    params: Params({
      ...params,
      repo_id: Id({ description: 'ID of the repository at GitHub' }),
      github_hostname: Optional(
        Filled({ description: 'URL of a GitHub Enterprise server, with or without `/api/v3`; default: github.com' }),
      ),
    }),
    returns: ForgeImport,
    handle: ({ params: given, ctx }) =>
      startForgeImport(ctx, {
        ...wishOf(given),
        forge: 'github',
        url: withScheme(given.github_hostname ?? 'https://github.com'),
        at: `/repositories/${given.repo_id}`,
      }),
  }),

  endpoint({
    method: 'POST',
    path: '/import/github/cancel',
    summary: 'Cancel an import from GitHub',
    description: 'The project stays, without content.',
    subject: instance,
    allow: 'use',
    params: cancelParams,
    status: 200,
    returns: ForgeImport,
    handle: ({ params: { project_id }, ctx }) => cancelForgeImport(ctx, 'github', project_id),
  }),

  endpoint({
    method: 'POST',
    path: '/import/gitea',
    summary: 'Start an import from Gitea',
    description: `Also for Forgejo. ${effects}`,
    subject: instance,
    allow: 'use',
    params: Params({
      ...params,
      gitea_url: Filled({ description: 'URL of the server' }),
      repo: Filled({ description: 'Owner and name of the repository: `owner/name`' }),
    }),
    returns: ForgeImport,
    handle({ params: given, ctx }) {
      if (!isFullName(given.repo)) throw invalidFields({ repo: ['is not valid'] })
      return startForgeImport(ctx, {
        ...wishOf(given),
        forge: 'gitea',
        url: withScheme(given.gitea_url),
        at: `/repos/${given.repo}`,
      })
    },
  }),

  endpoint({
    method: 'POST',
    path: '/import/gitea/cancel',
    summary: 'Cancel an import from Gitea',
    description: 'The project stays, without content.',
    subject: instance,
    allow: 'use',
    params: cancelParams,
    status: 200,
    returns: ForgeImport,
    handle: ({ params: { project_id }, ctx }) => cancelForgeImport(ctx, 'gitea', project_id),
  }),
]

type Given = {
  readonly personal_access_token: string
  readonly target_namespace: string
  readonly new_name?: string
  readonly optional_stages?: Readonly<Record<'single_endpoint_notes_import' | (typeof absentStages)[number], boolean>>
  readonly timeout_strategy: string
}

/** Stages that clients know, and that nothing here does. */
const absentStages = ['single_endpoint_issue_events_import', 'attachments_import', 'collaborators_import'] as const

function wishOf({ optional_stages: stages, ...given }: Given) {
  const wanted = absentStages.filter((name) => stages?.[name])
  if (wanted.length > 0) throw invalidFields({ optional_stages: wanted.map((name) => `${name} is not supported`) })
  return {
    token: given.personal_access_token,
    targetNamespace: given.target_namespace,
    newName: given.new_name,
    singleEndpointNotes: stages?.single_endpoint_notes_import === true,
    optimistic: given.timeout_strategy === 'optimistic',
  }
}

/** Some callers send a host name alone. */
const withScheme = (text: string): string => (/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`)
