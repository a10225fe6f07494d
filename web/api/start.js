// Starts the API page. This is a separate file because the content security policy forbids inline scripts.
window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "list",
  persistAuthorization: false, // forget the token when the page is closed
  validatorUrl: null, // do not send the document to an external validator
  // Send requests to the origin of the page: the service may be reachable at several addresses.
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.href);
    request.url = location.origin + pathname + search;
    return request;
  },
});
