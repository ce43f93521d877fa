import { absent, type Row } from './permission-rows.ts'

const slugs = ['slack', 'mattermost', 'discord', 'microsoft-teams', 'emails-on-push', 'pipelines-email'] as const

/** None of them is enabled. */
const unknown = { at: { ':slug': 'slack', ':event_id': absent } }

/** Operations on integrations of projects, under both paths. */
export const integrationRows: readonly Row[] = [
  ...(['services', 'integrations'] as const).flatMap((name): readonly Row[] => {
    const at = `/projects/:id/${name}`
    return [
      [`GET ${at}`, 'maintainer -', 200],
      [`GET ${at}/:slug`, 'maintainer -', 404, unknown],
      ...slugs.map((slug): Row => [`PUT ${at}/${slug}`, 'maintainer -', 400, { json: {} }]),
      [`PUT ${at}/:slug`, 'maintainer -', 404, { at: { ':slug': 'unknown' } }],
      [`DELETE ${at}/:slug`, 'maintainer -', 404, unknown],
    ]
  }),
  ['GET /projects/:id/integrations/:slug/events', 'maintainer -', 404, unknown],
  ['POST /projects/:id/integrations/:slug/events/:event_id/resend', 'maintainer -', 404, unknown],
]
