/** The fields of each type of a CustomResourceDefinition, as the OpenAPI of a server lists them. */
export const crdFields = {
  CustomResourceColumnDefinition: "description format jsonPath name priority type",
  CustomResourceConversion: "strategy webhook",
  CustomResourceDefinitionNames: "categories kind listKind plural shortNames singular",
  CustomResourceDefinitionSpec: "conversion group names preserveUnknownFields scope versions",
  CustomResourceDefinitionVersion:
    "additionalPrinterColumns deprecated deprecationWarning name schema selectableFields served storage subresources",
  CustomResourceSubresourceScale: "labelSelectorPath specReplicasPath statusReplicasPath",
  CustomResourceSubresources: "scale status",
  CustomResourceValidation: "openAPIV3Schema",
  ExternalDocumentation: "description url",
  JSONSchemaProps:
    "$ref $schema additionalItems additionalProperties allOf anyOf default definitions dependencies description enum example exclusiveMaximum exclusiveMinimum externalDocs format id items maxItems maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf not nullable oneOf pattern patternProperties properties required title type uniqueItems x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-preserve-unknown-fields x-kubernetes-validations",
  SelectableField: "jsonPath",
  ServiceReference: "name namespace path port",
  ValidationRule: "fieldPath message messageExpression optionalOldSelf reason rule",
  WebhookClientConfig: "caBundle service url",
  WebhookConversion: "clientConfig conversionReviewVersions",
} as const;
