# The requests of Airship's Ruby library for servers (10.0.1, which is not to be had from the package registries that this uses),
# written down from its source and sent as it sends them: its paths, headers, bodies and dates, and what it needs of the answers.
#
# usage: ruby requests.rb URL KEY MASTER_SECRET TOKEN IOS_CHANNEL DEVICE_TOKEN ANDROID_CHANNEL CLIENT < PRIVATE_KEY
# CLIENT is an OAuth client, and PRIVATE_KEY its key.
require 'base64'
require 'json'
require 'net/http'
require 'openssl'
require 'securerandom'
require 'time'
require 'zlib'

URL, KEY, SECRET, TOKEN, CHANNEL, DEVICE_TOKEN, ANDROID, CLIENT = ARGV
PRIVATE_KEY = $stdin.read
LATER = Time.now.utc + 400 * 24 * 60 * 60

# Answers with the status and the body, which is parsed if it is JSON.
def request(method, path, body: nil, type: nil, encoding: nil, bearer: false, url: nil)
  uri = URI(url || "#{URL}/api#{path}")
  sent = Net::HTTP.const_get(method.capitalize).new(uri)
  sent['User-Agent'] = "UARubyLib/10.0.1 #{KEY}"
  sent['Accept'] = 'application/vnd.urbanairship+json; version=3'
  sent['Content-Type'] = type if type
  sent['Content-Encoding'] = encoding if encoding
  if bearer
    sent['X-UA-Appkey'] = KEY
    sent['Authorization'] = "Bearer #{TOKEN}"
  else
    sent.basic_auth(KEY, SECRET)
  end
  sent.body = body
  answer = Net::HTTP.start(uri.host, uri.port) { |http| http.request(sent) }
  text = answer.body.to_s
  [answer.code.to_i, text.start_with?('{', '[') ? JSON.parse(text) : text]
end

def succeed(status, method, path, body = nil, **options)
  options = { type: 'application/json', body: body.is_a?(String) ? body : JSON.dump(body) }.merge(options) if body
  found, answer = request(method, path, **options)
  raise "#{method} #{path}: #{found} #{answer}" unless found == status

  answer
end

def check(what)
  raise what unless yield
end

# Every page of a listing. The library stops at a link that it has followed before.
def pages(path, key)
  items, url = [], nil
  loop do
    page = succeed(200, 'GET', path, url: url)
    items += page.fetch(key)
    link = page['next_page']
    return items if link.nil? || link == url || (url.nil? && link.end_with?(path))

    url = link
  end
end

def check_custom_events
  event = { body: { name: 'bought', value: 12.5, properties: { color: 'red' }, session_id: 's' },
            occurred: Time.now.utc.strftime('%Y-%m-%dT%H:%M:%S'), user: { ios_channel: CHANNEL } }
  answer = succeed(200, 'POST', '/custom-events/', [event], bearer: true)
  check('the library reads operationId') { answer['ok'] == true && answer['operationId'].is_a?(String) }
  status, = request('POST', '/custom-events/', body: JSON.dump([{ body: {} }]), type: 'application/json', bearer: true)
  check('what is wrong is refused') { status == 400 }
end

def check_pushes
  push = { audience: { or: [{ ios_channel: CHANNEL }, { tag: 'red', group: 'team' }] }, device_types: %w[ios android],
           notification: { alert: 'Hello', ios: { badge: '+1', extra: { a: 'b' } }, android: { title: 'T' } },
           options: { expiry: 3600 }, campaigns: { categories: ['spring'] } }
  sent = succeed(200, 'POST', '/push/', push)
  check('ids of pushes') { sent['push_ids'].length == 1 && sent['operation_id'] }
  # With a bearer token everything is sent with it.
  succeed(200, 'POST', '/push/', push, bearer: true)
  schedule = { name: 'later', schedule: { scheduled_time: LATER.strftime('%Y-%m-%dT%H:%M:%S') }, push: push }
  url = succeed(201, 'POST', '/schedules/', schedule)['schedule_urls'].first
  kept = succeed(200, 'GET', nil, url: url)
  check('a schedule as it was sent') { kept['name'] == 'later' && kept['push']['notification']['alert'] == 'Hello' }
  succeed(200, 'PUT', nil, schedule.merge(name: 'changed'), url: url)
  check('a listing') { pages('/schedules/', 'schedules').map { |each| each['name'] } == ['changed'] }
  # It declares a content without having one.
  succeed(204, 'DELETE', nil, url: url, type: 'application/json')
  best = { best_time: { send_date: LATER.strftime('%Y-%m-%dT%H:%M:%S') } }
  succeed(201, 'POST', '/schedules/', schedule.merge(schedule: best))
  sent['push_ids'].first
end

def check_devices
  check('a channel') { succeed(200, 'GET', "/channels/#{CHANNEL}")['channel']['channel_id'] == CHANNEL }
  check('channels') { pages('/channels/', 'channels').map { |each| each['channel_id'] }.include?(CHANNEL) }
  check('tokens') { pages('/device_tokens/', 'device_tokens').length == 1 }
  check('a token') { succeed(200, 'GET', "/device_tokens/#{DEVICE_TOKEN}")['device_token'] == DEVICE_TOKEN }
  check('apids') { pages('/apids/', 'apids').map { |each| each['apid'] } == [ANDROID] }
  check('an apid') { succeed(200, 'GET', "/apids/#{ANDROID}")['apid'] == ANDROID }
  succeed(200, 'POST', '/channels/tags/', { audience: { ios_channel: CHANNEL }, add: { team: ['red'] } })
  city = { action: 'set', key: 'city', value: 'Oslo', timestamp: Time.now.utc.iso8601 }
  succeed(200, 'POST', '/channels/attributes', { audience: { ios_channel: [CHANNEL] }, attributes: [city] })
  open = { type: 'open', open: { open_platform_name: 'kiosk' }, opt_in: true, address: 'lobby', tags: ['new'] }
  made = succeed(200, 'POST', '/open/', { channel: open })
  check('an open channel') { succeed(200, 'GET', "/channels/#{made['channel_id']}")['channel']['address'] == 'lobby' }
  succeed(202, 'POST', '/open/uninstall/', { address: 'lobby', open_platform_name: 'kiosk' })
  succeed(202, 'POST', '/channels/uninstall/', [{ channel_id: made['channel_id'], device_type: 'open' }])
end

def check_create_and_send
  push = { audience: { create_and_send: [{ ua_address: 'lobby', name: 'Kim' }] }, device_types: ['open::kiosk'],
           notification: { 'open::kiosk': { alert: 'Hello' } } }
  check('a push') { succeed(202, 'POST', '/create-and-send/', push)['push_ids'].length == 1 }
  succeed(200, 'POST', '/create-and-send/validate', push)
  later = { schedule: { scheduled_time: LATER.strftime('%Y-%m-%dT%H:%M:%S') }, name: nil, push: push }
  check('a schedule') { succeed(202, 'POST', '/schedules/create-and-send', later)['schedule_urls'].length == 1 }
end

def check_users
  succeed(200, 'POST', '/named_users/associate', { channel_id: CHANNEL, device_type: 'ios', named_user_id: 'kim' })
  succeed(200, 'POST', '/named_users/tags/', { audience: { named_user_id: ['kim'] }, set: { crm: ['a'] } })
  attribute = { action: 'set', key: 'plan', value: 'gold', timestamp: Time.now.utc.iso8601 }
  succeed(200, 'POST', '/named_users/kim/attributes', { attributes: [attribute] })
  kim = succeed(200, 'GET', '/named_users/?id=kim')['named_user']
  check('a named user') { kim['tags'] == { 'crm' => ['a'] } && kim['attributes'] == { 'plan' => 'gold' } }
  check('named users') { pages('/named_users/', 'named_users').length == 1 }
  succeed(200, 'POST', '/named_users/disassociate', { channel_id: CHANNEL, device_type: 'ios', named_user_id: 'kim' })
  succeed(200, 'POST', '/named_users/uninstall', { named_user_id: ['kim'] })
end

def check_lists
  succeed(201, 'POST', '/lists/', { name: 'vip', description: 'Gold', extra: { a: 'b' } })
  rows = "ios_channel,#{CHANNEL}\n"
  succeed(202, 'PUT', '/lists/vip/csv/', rows, type: 'text/csv')
  succeed(202, 'PUT', '/lists/vip/csv/', Zlib.gzip(rows), type: 'text/csv', encoding: 'gzip')
  succeed(200, 'PUT', '/lists/vip', { description: 'Platinum' })
  check('a list') { succeed(200, 'GET', '/lists/vip')['description'] == 'Platinum' }
  check('lists') { pages('/lists/', 'lists').map { |each| each['name'] } == ['vip'] }
  succeed(204, 'DELETE', '/lists/vip')
  succeed(201, 'POST', '/tag-lists/', { name: 'ua_tags_vip', add: { loyalty: ['vip'] } })
  check('tag lists') { succeed(200, 'GET', '/tag-lists/')['lists'].is_a?(Array) }
  rows = "channel_id\n#{CHANNEL}\nnobody\n"
  succeed(202, 'PUT', '/tag-lists/ua_tags_vip/csv/', rows, type: 'text/csv')
  # It says so in place of naming the encoding.
  succeed(202, 'PUT', '/tag-lists/ua_tags_vip/csv/', Zlib.gzip(rows), type: 'text/csv', encoding: 'true')
  check('errors') { succeed(200, 'GET', '/tag-lists/ua_tags_vip/errors/').is_a?(String) }
  segment = succeed(201, 'POST', '/segments/', { display_name: 'Red', criteria: { tag: 'red', group: 'team' } })
  path = "/segments/#{segment['segment_id']}"
  check('a segment') { succeed(200, 'GET', path)['display_name'] == 'Red' }
  succeed(200, 'PUT', path, { display_name: 'Crimson', criteria: { tag: 'red', group: 'team' } })
  check('segments') { pages('/segments/', 'segments').map { |each| each['display_name'] } == ['Crimson'] }
  succeed(204, 'DELETE', path)
end

def check_automation
  push = { audience: 'triggered', device_types: 'all', notification: { alert: 'Welcome' } }
  pipeline = { enabled: true, immediate_trigger: 'first_open', name: 'Welcome', outcome: { push: push } }
  succeed(200, 'POST', '/pipelines/validate', pipeline)
  path = "/pipelines/#{succeed(201, 'POST', '/pipelines/', pipeline)['pipeline_urls'].first.split('/').last}"
  # What was answered is sent back, with the keys that only the service sets.
  succeed(200, 'PUT', path, succeed(200, 'GET', path)['pipeline'].merge('name' => 'Changed'))
  check('pipelines') { succeed(200, 'GET', '/pipelines/?limit=5&offset=0')['pipelines'].first['name'] == 'Changed' }
  succeed(204, 'DELETE', path)
  check('deleted pipelines') { succeed(200, 'GET', '/pipelines/deleted?')['pipelines'].length == 1 }
  variants = [{ push: { notification: { alert: 'A' } } }, { push: { notification: { alert: 'B' } } }]
  test = { name: 'T', audience: { ios_channel: CHANNEL }, device_types: ['ios'], variants: variants }
  succeed(200, 'POST', '/experiments/validate', test)
  id = succeed(201, 'POST', '/experiments/', test)['experiment_id']
  check('an experiment') { succeed(200, 'GET', "/experiments/#{id}")['experiment']['name'] == 'T' }
  check('experiments') { succeed(200, 'GET', '/experiments/?')['experiments'].length == 1 }
  succeed(200, 'GET', '/experiments/scheduled?')
end

def check_reports(push)
  check('a report') { succeed(200, 'GET', "/reports/responses/#{push}")['push_uuid'] == push }
  # With the offset of the machine, whose plus sign the library does not escape.
  day = 24 * 60 * 60
  from, to = [Time.now - day, Time.now + day].map { |time| time.getlocal('+02:00').iso8601 }
  %w[optins optouts sends responses opens timeinapp].each do |name|
    succeed(200, 'GET', "/reports/#{name}/?start=#{from}&end=#{to}&precision=DAILY")
  end
  # It forgets equals signs.
  pushes = pages("/reports/responses/list?start=#{from}&end=#{to}&limit20", 'pushes')
  check('pushes') { pushes.map { |each| each['push_uuid'] }.include?(push) }
  succeed(200, 'GET', "/reports/devices/?date=#{from}")
end

# As the gem for JSON web tokens writes it.
def token_of(claims)
  key = OpenSSL::PKey::EC.new(PRIVATE_KEY)
  parts = [{ typ: 'JWT', alg: 'ES384', kid: CLIENT }, claims]
  text = parts.map { |part| Base64.urlsafe_encode64(JSON.dump(part), padding: false) }.join('.')
  signature = OpenSSL::ASN1.decode(key.sign('SHA384', text)).value.map { |number| number.value.to_s(2).rjust(48, "\0") }
  "#{text}.#{Base64.urlsafe_encode64(signature.join, padding: false)}"
end

def check_oauth
  now = Time.now.to_i
  claims = { aud: "#{URL}/token", exp: now + 61, iat: now, iss: CLIENT, nonce: SecureRandom.uuid, sub: "app:#{KEY}",
             scope: 'chn psh' }
  form = { grant_type: 'client_credentials', assertion: token_of(claims) }
  answer = Net::HTTP.post_form(URI("#{URL}/token"), form)
  raise "POST /token: #{answer.code} #{answer.body}" unless answer.code == '200'

  token = JSON.parse(answer.body)['access_token']
  header, claims = token.split('.').first(2).map { |part| JSON.parse(Base64.urlsafe_decode64(part)) }
  check('the library reads when it expires') { claims['exp'] > now }
  listed = Net::HTTP.get_response(URI("#{URL}/api/channels/"), { 'Authorization' => "Bearer #{token}", 'X-UA-Appkey' => KEY })
  check('the token is good') { listed.code == '200' }
  pem = Net::HTTP.get_response(URI("#{URL}/verify/public_key/#{header['kid']}"), { 'Accept' => 'text/plain' })
  check('a key') { pem.code == '200' && OpenSSL::PKey.read(pem.body).is_a?(OpenSSL::PKey::EC) }
end

check_custom_events
push = check_pushes
check_devices
check_create_and_send
check_users
check_lists
check_automation
check_reports(push)
check_oauth
status, = request('GET', '/channels/', bearer: true, url: "#{URL}/api/no-such-thing")
check('what is not there is said to be missing') { status == 404 }
puts 'official: 9 parts of the requests of the Ruby library 10.0.1 work'
