import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { BasicService, Service } from './entity.ts'
import { serviceKinds, slugs } from './kinds.ts'
import { type ServiceInput, serviceParams } from './params.ts'
import { serviceRow, servicesOf } from './queries.ts'
import { getService, missingService, putService, removeService } from './service.ts'

export const slugParam = Text({ known: slugs, description: 'Name of the integration' })
const slugParams = Params({ slug: slugParam })

const ofProject = { subject: project, allow: 'admin_hook' } as const

/** Services of projects. Compat: older clients call them services, newer ones integrations. */
export const serviceRoutes: readonly Endpoint[] = (['service', 'integration'] as const).flatMap((noun) => {
  const path = `/projects/:id/${noun}s` as const
  return [
    endpoint({
      ...ofProject,
      method: 'GET',
      path,
      summary: `List ${noun}s of a project`,
      description: 'Those that are enabled, the oldest first, without their properties.',
      paged: true,
      returns: BasicService,
      handle: ({ subject, page, ctx }) => fetchPage(ctx.db, serviceRow, servicesOf(subject.id), page),
    }),

    endpoint({
      ...ofProject,
      method: 'GET',
      path: `${path}/:slug`,
      summary: `Get the ${noun} of a project`,
      description: 'Responds with 404 if it is not enabled.',
      params: slugParams,
      returns: Service,
      handle: ({ subject, params, ctx }) => getService(ctx, subject.id, params.slug),
    }),

    ...slugs.map((slug) =>
      endpoint({
        ...ofProject,
        method: 'PUT',
        path: `${path}/${slug}`,
        summary: `Set up the ${noun} ${slug}`,
        description: `${serviceKinds[slug].title}: enables them, or changes their settings, of which absent ones stay. Responds with 400 for an unknown property. A change ends a pause.`,
        params: serviceParams(slug),
        returns: Service,
        handle: ({ subject, params, ctx }) => putService(ctx, subject.id, slug, params as ServiceInput),
      }),
    ),

    endpoint({
      ...ofProject,
      method: 'PUT',
      path: `${path}/:slug`,
      summary: `Set up an unknown ${noun}`,
      description: 'Responds with 404: each integration that exists has a path of its own.',
      params: Params({ slug: Text({ description: 'Name of an integration that does not exist' }) }),
      returns: null,
      handle: () => Promise.reject(missingService()),
    }),

    endpoint({
      ...ofProject,
      method: 'DELETE',
      path: `${path}/:slug`,
      summary: `Disable the ${noun} of a project`,
      description: 'Forgets its settings. Nothing more is sent.',
      params: slugParams,
      returns: null,
      handle: ({ subject, params, ctx }) => removeService(ctx, subject.id, params.slug),
    }),
  ]
})
