import {
  addressList,
  certificate,
  domainName,
  keyOfCertificate,
  shortEntries,
  thousandths,
  webAddress,
} from '../rules.ts'
import { count, decimal, flag, ids, secret, text, words } from '../schema.ts'

const spam = { without: 'a spam filter' }
const proxy = { without: 'pages with pictures from elsewhere: nothing is read at a start' }
const cluster = { without: 'clusters' }
const index = {
  without:
    'a search engine: the database and git are asked, and find what the caller may see, in all groups and projects',
}
const figures = { without: 'a sender of figures: /-/metrics has them' }
const dashboard = { without: 'a dashboard' }
const diagrams = { without: 'pictures of diagrams' }
const captcha = { without: 'captchas' }
const chat = { without: 'a chat' }
const tracking = { without: 'tracking of what people do' }
const intelligence = { without: 'pages of code' }
const sites = { without: 'sites of projects' }
const replicas = { without: 'replicas' }
const elsewhere = { without: 'external authorization' }
const errors = { without: 'a collector of errors' }
const files = { without: 'a storage of files elsewhere' }
const runners = { without: 'runners of pipelines' }
const nothingToldHome = { without: 'anything that calls home' }

const searchIndex = { tier: 'premium', ...index } as const

/** Services beside ours. */
export const integrations = {
  spam_filter_enabled: flag(false, 'Texts are shown to a filter of spam', {
    alias: 'akismet_enabled',
    sentWith: ['spam_filter_api_key'],
    needs: ['spam_filter_api_key'],
    ...spam,
    guards: 'there',
  }),
  spam_filter_api_key: secret('Key of the filter of spam', { alias: 'akismet_api_key', longest: 255, ...spam }),

  asset_proxy_enabled: flag(false, 'Pictures from elsewhere are fetched by a proxy (after a restart)', {
    sentWith: ['asset_proxy_url'],
    needs: ['asset_proxy_url'],
    ...proxy,
    guards: 'missing',
  }),
  asset_proxy_url: text('Address of that proxy (after a restart)', { rules: [webAddress], ...proxy }),
  asset_proxy_secret_key: secret('Shared with that proxy (after a restart)', { hidden: true, longest: 255, ...proxy }),
  asset_proxy_whitelist: words('Domains whose pictures are fetched by people themselves, ours among them', {
    rules: [shortEntries],
    ...proxy,
  }),

  auto_devops_domain: text('Domain below which projects are deployed', { rules: [domainName], ...runners }),
  shared_runners_minutes: count(0, 'Minutes of pipelines that a group has in a month; 0 is no limit', {
    tier: 'premium',
    ...runners,
    guards: 'missing',
  }),
  check_namespace_plan: flag(false, 'What a group has is decided by its own plan', {
    tier: 'premium',
    without: 'plans of groups',
    guards: 'there',
  }),

  managed_cluster_integration_enabled: flag(false, 'Clusters are made in an account elsewhere', {
    alias: 'eks_integration_enabled',
    ...cluster,
  }),
  managed_cluster_account_id: text('That account', { alias: 'eks_account_id', ...cluster }),
  managed_cluster_access_key_id: text('Id of its key', { alias: 'eks_access_key_id', ...cluster }),
  managed_cluster_secret_access_key: secret('Its key', {
    alias: 'eks_secret_access_key',
    hidden: true,
    longest: 255,
    ...cluster,
  }),

  search_engine_search: flag(false, 'Searches ask a search engine', { alias: 'elasticsearch_search', ...searchIndex }),
  search_engine_indexing: flag(false, 'That engine is told of what changes', {
    alias: 'elasticsearch_indexing',
    ...searchIndex,
  }),
  search_engine_limit_indexing: flag(false, 'It is told of some groups and projects only', {
    alias: 'elasticsearch_limit_indexing',
    ...searchIndex,
    guards: 'missing',
  }),
  search_engine_namespace_ids: ids('Groups it is told of when that is limited', {
    alias: 'elasticsearch_namespace_ids',
    ...searchIndex,
    guards: 'missing',
  }),
  search_engine_project_ids: ids('Projects it is told of when that is limited', {
    alias: 'elasticsearch_project_ids',
    ...searchIndex,
    guards: 'missing',
  }),
  search_engine_url: secret('Addresses of the engine, with commas between; credentials may stand in them', {
    alias: 'elasticsearch_url',
    ...searchIndex,
  }),
  search_engine_cloud: flag(false, 'The engine is somebody else’s service', {
    alias: 'elasticsearch_aws',
    ...searchIndex,
  }),
  search_engine_cloud_region: text('Region of that service', {
    alias: 'elasticsearch_aws_region',
    value: 'us-east-1',
    ...searchIndex,
  }),
  search_engine_cloud_access_key: text('Id of its key', { alias: 'elasticsearch_aws_access_key', ...searchIndex }),
  search_engine_cloud_secret_access_key: secret('Its key', {
    alias: 'elasticsearch_aws_secret_access_key',
    longest: 255,
    ...searchIndex,
  }),

  metrics_enabled: flag(false, 'Figures are sent to a database of figures', {
    sentWith: [
      'metrics_host',
      'metrics_method_call_threshold',
      'metrics_packet_size',
      'metrics_pool_size',
      'metrics_port',
      'metrics_sample_interval',
      'metrics_timeout',
    ],
    ...figures,
  }),
  metrics_host: text('Its host', { value: 'localhost', ...figures }),
  metrics_port: count(8089, 'Its UDP port', { maximum: 65_535, ...figures }),
  metrics_pool_size: count(16, 'Connections to it', figures),
  metrics_timeout: count(10, 'Seconds to wait for it', figures),
  metrics_packet_size: count(1, 'Figures in a packet', figures),
  metrics_sample_interval: count(15, 'Seconds between two figures', figures),
  metrics_method_call_threshold: count(10, 'Milliseconds from which a call is a figure', figures),
  monitoring_metrics_enabled: flag(true, 'Figures of the processes are at /-/metrics', {
    alias: 'prometheus_metrics_enabled',
  }),
  dashboard_enabled: flag(false, 'A dashboard is linked', { alias: 'grafana_enabled', ...dashboard }),
  dashboard_url: text('Its address', { alias: 'grafana_url', value: '/-/dashboard', ...dashboard }),

  diagram_enabled: flag(false, 'Diagrams in Markdown are drawn', {
    alias: 'plantuml_enabled',
    sentWith: ['diagram_url'],
    needs: ['diagram_url'],
    ...diagrams,
  }),
  diagram_url: text('Address of what draws them', { alias: 'plantuml_url', ...diagrams }),

  captcha_enabled: flag(false, 'People show that they are people', {
    alias: 'recaptcha_enabled',
    sentWith: ['captcha_private_key', 'captcha_site_key'],
    needs: ['captcha_private_key', 'captcha_site_key'],
    ...captcha,
    guards: 'there',
  }),
  captcha_private_key: secret('Private key of the captchas', {
    alias: 'recaptcha_private_key',
    longest: 255,
    ...captcha,
  }),
  captcha_site_key: text('Public key of the captchas', { alias: 'recaptcha_site_key', ...captcha }),
  login_captcha_protection_enabled: flag(false, 'They show it when they sign in, too', {
    alias: 'login_recaptcha_protection_enabled',
    ...captcha,
    guards: 'there',
  }),

  chat_app_enabled: flag(false, 'A chat may ask and tell', {
    alias: 'slack_app_enabled',
    tier: 'premium',
    sentWith: ['chat_app_id', 'chat_app_secret', 'chat_app_verification_token'],
    needs: ['chat_app_id', 'chat_app_secret', 'chat_app_verification_token'],
    ...chat,
  }),
  chat_app_id: text('Our id there', { alias: 'slack_app_id', tier: 'premium', ...chat }),
  chat_app_secret: secret('Our secret there', { alias: 'slack_app_secret', longest: 255, tier: 'premium', ...chat }),
  chat_app_verification_token: secret('What it shows us', {
    alias: 'slack_app_verification_token',
    longest: 255,
    tier: 'premium',
    ...chat,
  }),

  event_tracking_enabled: flag(false, 'What people do on pages is counted', {
    alias: 'snowplow_enabled',
    sentWith: ['event_tracking_collector_hostname'],
    needs: ['event_tracking_collector_hostname'],
    ...tracking,
  }),
  event_tracking_collector_hostname: text('Host that counts', { alias: 'snowplow_collector_hostname', ...tracking }),
  event_tracking_cookie_domain: text('Domain of the cookie', { alias: 'snowplow_cookie_domain', ...tracking }),
  event_tracking_app_id: text('Our id there', { alias: 'snowplow_app_id', ...tracking }),
  event_tracking_iglu_registry_url: text('Address of the schemas of what is counted', {
    alias: 'snowplow_iglu_registry_url',
    rules: [webAddress],
    ...tracking,
  }),
  usage_ping_enabled: flag(true, 'How much is used is told to the makers', nothingToldHome),
  version_check_enabled: flag(true, 'The makers are asked for newer versions', nothingToldHome),
  pseudonymizer_enabled: flag(false, 'Tables are exported under other names', {
    tier: 'premium',
    without: 'exports of tables',
    guards: 'missing',
  }),

  code_intelligence_enabled: flag(false, 'Pages of code know what names mean', {
    alias: 'sourcegraph_enabled',
    sentWith: ['code_intelligence_url'],
    needs: ['code_intelligence_url'],
    ...intelligence,
  }),
  code_intelligence_url: text('Address of what knows it', {
    alias: 'sourcegraph_url',
    rules: [webAddress],
    ...intelligence,
  }),
  code_intelligence_public_only: flag(true, 'It is asked about public projects only', {
    alias: 'sourcegraph_public_only',
    ...intelligence,
    guards: 'missing',
  }),

  pages_domain_verification_enabled: flag(true, 'Domains of sites must be shown to be one’s own', {
    ...sites,
    guards: 'missing',
  }),
  lets_encrypt_notification_email: text('Address that is told of certificates', sites),
  lets_encrypt_terms_of_service_accepted: flag(false, 'The terms of that service are accepted', sites),

  replica_node_allowed_ips: text('Addresses that replicas come from', {
    alias: 'geo_node_allowed_ips',
    value: '0.0.0.0/0, ::/0',
    tier: 'premium',
    rules: [addressList],
    ...replicas,
    guards: 'missing',
  }),
  replica_status_timeout: count(10, 'Seconds to wait for a replica', {
    alias: 'geo_status_timeout',
    exclusiveMinimum: 0,
    tier: 'premium',
    ...replicas,
  }),

  external_authorization_service_enabled: flag(false, 'Another service is asked who may enter projects', {
    needs: [
      'external_authorization_service_default_label',
      'external_authorization_service_timeout',
      'external_authorization_service_url',
    ],
    ...elsewhere,
    guards: 'there',
  }),
  external_authorization_service_default_label: text('Label of projects that have none', elsewhere),
  external_authorization_service_timeout: decimal(0.5, 'Seconds to wait for it; after them nobody may', {
    exclusiveMinimum: 0,
    maximum: 10,
    rules: [thousandths],
    ...elsewhere,
  }),
  external_authorization_service_url: text('Its address', { rules: [webAddress], ...elsewhere }),
  external_auth_client_cert: text('Certificate that it is shown (PEM)', {
    longest: 65_536,
    needs: ['external_auth_client_key'],
    rules: [certificate],
    ...elsewhere,
  }),
  external_auth_client_key: secret('Key of that certificate (PEM)', { rules: [keyOfCertificate], ...elsewhere }),
  external_auth_client_key_pass: secret('Passphrase of that key', { longest: 255, ...elsewhere }),

  sentry_enabled: flag(false, 'Errors are sent to a collector', { needs: ['sentry_dsn'], ...errors }),
  sentry_dsn: text('Its address', { rules: [webAddress], ...errors }),
  clientside_sentry_enabled: flag(false, 'Errors of pages are sent to it', {
    needs: ['clientside_sentry_dsn'],
    ...errors,
  }),
  clientside_sentry_dsn: text('Address for those', { rules: [webAddress], ...errors }),

  static_objects_external_storage_url: text('Address that files and archives are fetched from', {
    rules: [webAddress],
    ...files,
  }),
  static_objects_external_storage_auth_token: secret('What it shows us', { hidden: true, longest: 255, ...files }),
}
