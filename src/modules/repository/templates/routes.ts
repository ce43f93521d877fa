import type { Ctx } from '../../../api/ctx.ts'
import { as, endpoint, variants } from '../../../api/endpoint.ts'
import { slicePage } from '../../../api/page.ts'
import { Flag, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { FileTemplate, LicenseTemplate, TemplateName } from './entity.ts'
import { type Kind, kindNames, type OwnKind, ownKinds, type Template } from './kinds.ts'
import { isPopular, type Licensee } from './licenses.ts'
import { listTemplates, requireTemplate, templatesOf } from './service.ts'

const key = Text({ description: 'Key of the template' })
const licensee = {
  project: Optional(Text({ maxLength: 255, description: 'Project name to fill into a license' })),
  fullname: Optional(
    Text({ maxLength: 255, description: 'Name of the license holder; default: the name of the caller' }),
  ),
}
const type = OneOf([...kindNames, ...(Object.keys(ownKinds) as OwnKind[])], { description: 'Type of template' })

const licenseeOf = (ctx: Ctx, { project: name, fullname }: Licensee): Licensee => ({
  project: name,
  fullname: fullname || ctx.actor?.name,
})

const oneOf = (ctx: Ctx, kind: Kind | OwnKind, template: Template, given: Licensee) =>
  kind === 'licenses' ? as(LicenseTemplate, { template, licensee: licenseeOf(ctx, given) }) : as(FileTemplate, template)

const ofFiles = (kind: Exclude<Kind, 'licenses'>, what: string) => [
  endpoint({
    method: 'GET',
    path: `/templates/${kind}`,
    summary: `List ${what} templates`,
    subject: instance,
    allow: 'browse',
    paged: true,
    returns: TemplateName,
    handle: async ({ page, ctx }) => slicePage(await listTemplates(ctx, kind), page),
  }),

  endpoint({
    method: 'GET',
    path: `/templates/${kind}/:key`,
    summary: `Get a ${what} template`,
    subject: instance,
    allow: 'browse',
    params: Params({ key }),
    returns: FileTemplate,
    handle: async ({ params, ctx }) => requireTemplate(await listTemplates(ctx, kind), kind, params.key),
  }),
]

export const templateRoutes = [
  ...ofFiles('gitignores', '.gitignore'),
  ...ofFiles('dockerfiles', 'Dockerfile'),
  ...ofFiles('gitlab_ci_ymls', 'pipeline'),

  endpoint({
    method: 'GET',
    path: '/templates/licenses',
    summary: 'List license templates',
    subject: instance,
    allow: 'browse',
    params: Params({ popular: Flag({ default: false, description: 'Only popular licenses' }) }),
    paged: true,
    returns: LicenseTemplate,
    async handle({ params, page, ctx }) {
      const templates = await listTemplates(ctx, 'licenses')
      const found = slicePage(params.popular ? templates.filter(isPopular) : templates, page)
      return { ...found, rows: found.rows.map((template) => ({ template, licensee: {} })) }
    },
  }),

  endpoint({
    method: 'GET',
    path: '/templates/licenses/:key',
    summary: 'Get a license template',
    description: 'Fills in the placeholders of the license.',
    subject: instance,
    allow: 'browse',
    params: Params({ key, ...licensee }),
    returns: LicenseTemplate,
    handle: async ({ params, ctx }) => ({
      template: requireTemplate(await listTemplates(ctx, 'licenses'), 'licenses', params.key),
      licensee: licenseeOf(ctx, params),
    }),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/templates/:type',
    summary: 'List templates of a project',
    description: 'Templates of issues and merge requests are those of the project itself.',
    subject: project,
    allow: 'read_project',
    params: Params({ type }),
    paged: true,
    returns: TemplateName,
    handle: async ({ subject, params, page, ctx }) => slicePage(await templatesOf(ctx, subject, params.type), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/templates/:type/:key',
    summary: 'Get a template of a project',
    subject: project,
    allow: 'read_project',
    params: Params({ type, key, ...licensee }),
    returns: variants(FileTemplate, LicenseTemplate),
    handle: async ({ subject, params, ctx }) =>
      oneOf(
        ctx,
        params.type,
        requireTemplate(await templatesOf(ctx, subject, params.type), params.type, params.key),
        params,
      ),
  }),
]
