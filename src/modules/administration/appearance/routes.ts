import { endpoint } from '../../../api/endpoint.ts'
import { File, Flag, Nullable, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { Appearance } from './entity.ts'
import { findAppearance } from './queries.ts'
import { changeAppearance } from './service.ts'

const text = (description: string) => Optional(Nullable(Text({ description })))
const color = (description: string) => Optional(Text({ description }))
const picture = (description: string) =>
  Optional(Nullable(File({ description: `${description}; an empty value removes it` })))

export const appearanceRoutes = [
  endpoint({
    method: 'GET',
    path: '/application/appearance',
    summary: 'Get the appearance of the instance',
    subject: instance,
    allow: 'administer',
    returns: Appearance,
    handle: ({ ctx }) => findAppearance(ctx.db),
  }),

  endpoint({
    method: 'PUT',
    path: '/application/appearance',
    summary: 'Update the appearance of the instance',
    description: 'Omitted fields stay unchanged.',
    subject: instance,
    allow: 'administer',
    params: Params({
      title: text('Title of the sign-in page'),
      description: text('Text of the sign-in page (Markdown)'),
      logo: picture('Logo of the sign-in page'),
      header_logo: picture('Logo in the header of pages'),
      favicon: picture('Icon of the tab'),
      new_project_guidelines: text('Guidelines on the page for new projects (Markdown)'),
      header_message: text('Header of pages'),
      footer_message: text('Footer of pages'),
      message_background_color: color('Color of these messages: #rgb or #rrggbb'),
      message_font_color: color('Color of these messages: #rgb or #rrggbb'),
      email_header_and_footer_enabled: Optional(Flag({ description: 'Mails have these messages, too' })),
    }),
    returns: Appearance,
    handle: ({ params, ctx }) => changeAppearance(ctx, params),
  }),
]
