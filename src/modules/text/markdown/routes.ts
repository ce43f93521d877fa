import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { Flag, Optional, Params, Text } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { loadProject } from '../../projects/index.ts'

const RenderedMarkdown = entity({
  name: 'RenderedMarkdown',
  schema: Type.Object({ html: Type.String({ description: 'The text as HTML that is safe to insert into a page' }) }),
  present: (html: string) => ({ html }),
})

export const markdownRoutes = [
  endpoint({
    method: 'POST',
    path: '/markdown',
    summary: 'Render Markdown',
    description:
      'References become links to what the caller may see. A text that is too large or too complex is returned as it is, escaped.',
    subject: instance,
    allow: 'browse',
    params: Params({
      text: Text({ description: 'Text to render; up to 524,288 characters are rendered' }),
      gfm: Flag({ default: false, description: 'Render references and emoji codes as well' }),
      project: Optional(Text({ description: 'ID or full path of the project in which references are read' })),
    }),
    returns: RenderedMarkdown,
    async handle({ params, ctx }) {
      const project = params.project === undefined ? undefined : await loadProject(params.project, ctx)
      const isVisible = project && allows(projectPolicy.read_project, ctx.actor, project.facts)
      if (params.project !== undefined && !isVisible) throw notFound('Project')
      const place = project ? ({ of: 'project', full_path: project.full_path } as const) : ({ of: 'instance' } as const)
      const [html] = await ctx.markdown.html(ctx, [{ text: params.text, place, plain: !params.gfm }])
      return html!.html
    },
  }),
]
