// Starts the API page; a file of its own because the page allows no inline script.
window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "list",
  persistAuthorization: false, // a token typed here is gone when the page is
  validatorUrl: null, // nothing of ours is sent to anybody else
});
