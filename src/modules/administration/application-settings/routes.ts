import { endpoint } from '../../../api/endpoint.ts'
import { storedSettings } from '../../../settings/queries.ts'
import { instance } from '../../instance/index.ts'
import { ApplicationSettings } from './entity.ts'
import { settingParams } from './params.ts'
import { changeSettings } from './service.ts'

export const applicationSettingRoutes = [
  endpoint({
    method: 'GET',
    path: '/application/settings',
    summary: 'Get application settings',
    subject: instance,
    allow: 'administer',
    returns: ApplicationSettings,
    handle: ({ ctx }) => storedSettings(ctx.db),
  }),

  endpoint({
    method: 'PUT',
    path: '/application/settings',
    summary: 'Update application settings',
    description: 'Omitted settings stay unchanged.',
    subject: instance,
    allow: 'administer',
    params: settingParams,
    returns: ApplicationSettings,
    handle: ({ params, ctx }) => changeSettings(ctx, params),
  }),
]
