FROM httpd:alpine
# A folder with the files of your site.
COPY ./public/ /usr/local/apache2/htdocs/
EXPOSE 80
