// Starts the API page; a file of its own because the page allows no inline script.
window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "list",
  persistAuthorization: false, // a token typed here is gone when the page is
  validatorUrl: null, // nothing of ours is sent to anybody else
  // Calls go where the page came from: the service may be reached by more than the address it calls itself.
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.href);
    request.url = location.origin + pathname + search;
    return request;
  },
});
